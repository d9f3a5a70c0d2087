/* SPDX-License-Identifier: MIT */
#include "operate/put_signature.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "http/escape.h"
#include "http/multipart.h"

/* A query or form with this field, in place of the one that it has. */
static void
put_fields(struct um_buf *out, struct um_str fields, const char *name,
	struct um_str value)
{
	struct um_buf field = { 0 };

	um_escape_url_arg(&field, um_str(name));
	um_buf_puts(&field, "=");
	while (fields.ptr != NULL && fields.len != 0) {
		struct um_str one = um_str_cut(&fields, "&");

		if (one.len >= field.len
			&& memcmp(one.ptr, field.ptr, field.len) == 0)
			continue;
		um_buf_put(out, one.ptr, one.len);
		um_buf_puts(out, "&");
	}
	um_buf_put(out, field.ptr, field.len);
	um_escape_url_arg(out, value);
	um_buf_free(&field);
}

static bool
set_query(struct um_saved_request *request, const char *name,
	struct um_str value)
{
	struct um_buf query = { 0 };

	put_fields(&query, request->query, name, value);
	return um_saved_request_take_query(request, &query);
}

static bool
set_form(struct um_saved_request *request, const char *name,
	struct um_str value)
{
	struct um_buf body = { 0 };

	put_fields(&body, request->body, name, value);
	return um_saved_request_take_body(request, &body);
}

/* Replaces a part of the body, which points into it. */
static bool
replace(struct um_saved_request *request, struct um_str part,
	struct um_str value)
{
	struct um_str body = request->body;
	struct um_buf made = { 0 };
	size_t start = (size_t)(part.ptr - body.ptr);

	um_buf_put(&made, body.ptr, start);
	um_buf_put(&made, value.ptr, value.len);
	um_buf_put(&made, part.ptr + part.len, body.len - start - part.len);
	return um_saved_request_take_body(request, &made);
}

static bool
set_multipart(struct um_saved_request *request, const char *name,
	struct um_str value)
{
	const char *type = um_saved_request_header("content-type", request);
	struct um_multipart multipart;
	struct um_str part;

	if (!um_multipart_parse(&multipart, um_str(type), request->body))
		return false;
	part = um_multipart_get(&multipart, name);
	return part.ptr != NULL && replace(request, part, value);
}

/* The node at the pointer, but for its last `less` names. */
static json_t *
walk(json_t *node, const struct um_pointer *at, size_t less)
{
	for (size_t i = 0; i + less < at->len; i++)
		node = json_is_array(node)
			? json_array_get(node, at->token[i].index)
			: json_object_get(node, at->token[i].name);
	return node;
}

static bool
set_text(json_t *root, const struct um_pointer *at, struct um_str value)
{
	json_t *node = at->len != 0 ? walk(root, at, 1) : NULL;

	return json_is_object(node)
		&& json_object_set_new(node, at->token[at->len - 1].name,
			   json_stringn(value.ptr, value.len))
		== 0;
}

/* The text of the payload, decoded where it is in a form; to be freed. */
static char *
payload_of(const struct um_saved_request *request,
	const struct um_payload *payload, struct um_str *multipart)
{
	const char *type = um_saved_request_header("content-type",
		(void *)request);
	struct um_multipart parts;
	struct um_form form = { 0 };
	struct um_str text = request->body;
	char *copy;

	if (payload->part == UM_PAYLOAD_MULTIPART) {
		if (!um_multipart_parse(&parts, um_str(type), text))
			return NULL;
		text = *multipart = um_multipart_get(&parts, payload->field);
	} else if (payload->part == UM_PAYLOAD_FORM) {
		text = um_form_parse(&form, text) == UM_REFUSAL_NONE
			? um_form_get(&form, payload->field)
			: um_str(NULL);
	}
	copy = text.len != 0 ? strndup(text.ptr, text.len) : NULL;
	um_form_free(&form);
	return copy;
}

static bool
set_json(struct um_saved_request *request, const struct um_expr *place,
	const struct um_payload *payload, size_t item, struct um_str value)
{
	struct um_str multipart = { 0 };
	char *text = payload_of(request, payload, &multipart), *made = NULL;
	json_t *root = text != NULL ? json_loads(text, 0, NULL) : NULL;
	json_t *node = root;
	bool ok = !place->json.selects && !place->json.is_text;

	if (place->kind == UM_EXPR_ITEM)
		node = json_array_get(walk(root, &payload->events, 0), item);
	ok = ok && set_text(node, &place->json.at, value);
	if (ok)
		made = json_dumps(root, JSON_COMPACT);
	ok = made != NULL;
	if (ok && payload->part == UM_PAYLOAD_MULTIPART)
		ok = replace(request, multipart, um_str(made));
	else if (ok && payload->part == UM_PAYLOAD_FORM)
		ok = set_form(request, payload->field, um_str(made));
	else if (ok) {
		struct um_buf body = { 0 };

		um_buf_puts(&body, made);
		ok = um_saved_request_take_body(request, &body);
	}
	free(made);
	json_decref(root);
	free(text);
	return ok;
}

bool
um_put_signature(struct um_saved_request *request, const struct um_expr *place,
	const struct um_payload *payload, size_t item, struct um_str value)
{
	switch (place->kind) {
	case UM_EXPR_HEADER:
		return um_saved_request_set(request, place->names.item[0],
			value);
	case UM_EXPR_QUERY:
		return set_query(request, place->text, value);
	case UM_EXPR_FORM:
		return set_form(request, place->text, value);
	case UM_EXPR_MULTIPART:
		return set_multipart(request, place->text, value);
	case UM_EXPR_JSON:
	case UM_EXPR_ITEM:
		return set_json(request, place, payload, item, value);
	default:
		return false;
	}
}
