/* SPDX-License-Identifier: MIT */
#include "operate/sign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/timestamp.h"
#include "description/expr_load.h"
#include "operate/put_signature.h"

#define STAND_IN "test-1" /* for a signed header that is not there */

struct signer {
	const struct um_spec_part *part;
	const struct um_scheme *scheme;
	const struct um_delivery *delivery;
	struct um_params beside;          /* of the signature */
	struct um_saved_request *request; /* what the delivery is made of */
	char time[32];
};

static void
put_time(char out[static 32], int64_t now_ms, enum um_timestamp_form form)
{
	time_t seconds = (time_t)(now_ms / 1000);
	struct tm tm;

	if (form != UM_TIMESTAMP_RFC3339) {
		snprintf(out, 32, "%" PRId64,
			form == UM_TIMESTAMP_UNIX ? now_ms / 1000 : now_ms);
		return;
	}
	gmtime_r(&seconds, &tm);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Whether it is, or contains, the time of the delivery. */
static bool
is_time(const struct signer *signer, const struct um_expr *expr)
{
	return um_expr_same(expr, &signer->part->timestamp);
}

static bool
add_param(struct signer *signer, const struct um_expr *expr, const char *value)
{
	struct um_params *params = &signer->beside;

	for (size_t i = 0; i < params->len; i++)
		if (um_str_is(params->param[i].name, expr->text))
			return true;
	if (params->len == UM_PARAMS_MAX)
		return false;
	params->param[params->len++] = (struct um_field){ um_str(expr->text),
		um_str(value), false };
	return true;
}

/* Sets what the value needs and the request does not have. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
complete(struct signer *signer, const struct um_expr *expr)
{
	const struct um_delivery *delivery = signer->delivery;

	if (expr->kind == UM_EXPR_SIGNATURE
		&& !add_param(signer, expr, signer->time))
		return false;
	if (expr->kind == UM_EXPR_HEADER
		&& (is_time(signer, expr)
			|| delivery->header(expr->names.item[0], delivery->arg)
				== NULL)
		&& !um_saved_request_set(signer->request, expr->names.item[0],
			um_str(is_time(signer, expr) ? signer->time
						     : STAND_IN)))
		return false;
	for (size_t i = 0; i < expr->parts_len; i++)
		if (!complete(signer, &expr->parts[i]))
			return false;
	return true;
}

/* The parameters beside the signature, and the name of the signature. */
static void
put_named(struct um_buf *out, const struct signer *signer)
{
	const struct um_scheme *scheme = signer->scheme;

	for (size_t i = 0; i < signer->beside.len; i++) {
		const struct um_field *param = &signer->beside.param[i];

		um_buf_put(out, param->name.ptr, param->name.len);
		um_buf_puts(out, scheme->equals);
		um_buf_put(out, param->value.ptr, param->value.len);
		um_buf_puts(out, scheme->separator);
	}
	um_buf_cat(out, scheme->fields.item[0], scheme->equals);
}

/* The same in the order of the scheme; before the signature, or after it. */
static void
put_ordered(struct um_buf *out, const struct signer *signer, bool is_after)
{
	const struct um_scheme *scheme = signer->scheme;
	const struct um_source source = { .params = &signer->beside };
	bool found = false;

	for (size_t i = 0; i < scheme->order.len; i++) {
		const struct um_expr name = { .kind = UM_EXPR_SIGNATURE,
			.text = scheme->order.item[i] };
		struct um_value value;

		if (um_strlist_has(&scheme->fields, um_str(name.text))) {
			found = true;
			continue;
		}
		if (found != is_after)
			continue;
		um_buf_puts(out, is_after ? scheme->separator : "");
		if (um_expr_eval(&name, &source, &value) == UM_FOUND)
			um_buf_put(out, value.text.ptr, value.text.len);
		else
			um_buf_puts(out, STAND_IN);
		um_value_free(&value);
		um_buf_puts(out, is_after ? "" : scheme->separator);
	}
}

/* The signature with its prefix, and after the parameters beside it. */
static bool
put_signature(struct um_buf *out, const struct signer *signer,
	const struct um_parsed *parsed, const struct um_json_node *item)
{
	const struct um_scheme *scheme = signer->scheme;
	const struct um_source source = { .parsed = parsed,
		.params = &signer->beside,
		.item = item };
	struct um_buf message = { 0 };
	bool ok, is_ambiguous;

	ok = um_scheme_put_signed(scheme, &source, &message, &is_ambiguous)
		== UM_FOUND;
	if (scheme->order.len != 0)
		put_ordered(out, signer, false);
	else if (scheme->fields.len != 0)
		put_named(out, signer);
	if (scheme->prefixes.len != 0)
		um_buf_puts(out, scheme->prefixes.item[0]);
	ok = ok
		&& um_verifier_sign(scheme->verifier, um_buf_str(&message),
			out);
	put_ordered(out, signer, true);
	um_buf_free(&message);
	return ok;
}

/* Makes the signature, or that of one element, and puts it into its place. */
static enum um_verify_error
place(const struct signer *signer, const struct um_parsed *parsed,
	const struct um_json_node *item, size_t number)
{
	const struct um_scheme *scheme = signer->scheme;
	struct um_buf text = { 0 };
	enum um_verify_error error = UM_VERIFY_VALUE_ABSENT;

	if (put_signature(&text, signer, parsed, item)) {
		char name[UM_EXPR_HEADER_MAX + 2];

		error = UM_VERIFY_NOT_A_PLACE;
		snprintf(name, sizeof(name), "%s1",
			scheme->numbered ? scheme->from.names.item[0] : "");
		if (scheme->numbered
				? um_saved_request_set(signer->request, name,
					um_buf_str(&text))
				: um_put_signature(signer->request,
					&scheme->from, &signer->part->payload,
					number, um_buf_str(&text)))
			error = UM_VERIFY_OK;
	}
	um_buf_free(&text);
	return error;
}

/* All are made of the request as it was before. */
static enum um_verify_error
place_all(const struct signer *signer)
{
	struct um_parsed parsed = { .delivery = signer->delivery };
	const struct um_json_node *item = NULL;
	enum um_verify_error error = UM_VERIFY_VALUE_ABSENT;

	um_parsed_read(&parsed, &signer->part->payload,
		signer->part->signature_needs, false);
	if (!signer->scheme->of_items)
		error = place(signer, &parsed, NULL, 0);
	for (size_t i = 0; signer->scheme->of_items
		&& (item = um_json_next(parsed.events, item)) != NULL
		&& (i == 0 || error == UM_VERIFY_OK);
		i++)
		error = place(signer, &parsed, item, i);
	um_parsed_free(&parsed);
	return error;
}

/* Of the headers that a provider could list, one that each request has. */
static bool
list_header(struct signer *signer, const struct um_expr *names)
{
	static const char name[] = "content-type";

	return (um_saved_request_header(name, signer->request) != NULL
		       || um_saved_request_set(signer->request, name,
			       um_str("application/json")))
		&& add_param(signer, names, name);
}

static enum um_verify_error
sign(struct signer *signer)
{
	const struct um_scheme *scheme = signer->scheme;
	bool ok = true;

	if (!scheme->is_hmac)
		return UM_VERIFY_NOT_HMAC;
	for (size_t i = 0; i < scheme->parts_len && ok; i++)
		if (scheme->parts[i].kind == UM_EXPR_LISTED)
			ok = list_header(signer, &scheme->parts[i].parts[0]);
	for (size_t i = 0; i < scheme->parts_len && ok; i++)
		ok = complete(signer, &scheme->parts[i]);
	ok = ok && complete(signer, &signer->part->timestamp);
	return ok ? place_all(signer) : UM_VERIFY_VALUE_ABSENT;
}

enum um_verify_error
um_sign(const struct um_spec_part *part, const struct um_delivery *delivery,
	struct um_saved_request *request)
{
	struct signer signer = { .part = part,
		.delivery = delivery,
		.request = request };
	enum um_verify_error error = UM_VERIFY_NO_SECRET;

	put_time(signer.time, delivery->now_ms, part->timestamp_form);
	for (size_t i = 0; i < part->schemes_len; i++) {
		signer.scheme = &part->schemes[i];
		if (!signer.scheme->has_keys)
			continue;
		error = sign(&signer);
		break;
	}
	return error;
}
