/* SPDX-License-Identifier: MIT */
#include "webhook/description.h"

#include <stdlib.h>
#include <string.h>

#include "core/place.h"
#include "webhook/reader.h"

#define ANSWER_MAX 1024 /* bytes of an answer's body */

struct um_description {
	struct um_reader webhook;
	bool has_return;
	struct um_reader back; /* the browser's return */
	int answer_status;
	char *answer_body;
	char *answer_type;
};

void
um_description_free(struct um_description *description)
{
	if (description == NULL)
		return;
	um_reader_free(&description->webhook);
	um_reader_free(&description->back);
	free(description->answer_body);
	free(description->answer_type);
	free(description);
}

static bool
load_answer(struct um_description *description, const struct um_place *at,
	json_t *answer)
{
	static const char *const keys[] = { "status", "body", "content_type",
		NULL };
	const char *body = NULL, *type = NULL;
	long long status = 200;

	if (answer != NULL
		&& (!um_only_keys(at, answer, keys)
			|| !um_get_integer(at, answer, "status", 200, 299,
				&status)
			|| !um_get_text(at, answer, "body", false, &body)
			|| !um_get_text(at, answer, "content_type",
				body != NULL, &type)))
		return false;
	if (body == NULL && type != NULL)
		return um_mistake_in(at, "content_type",
			"needs a `body` beside it");
	if (body != NULL && strlen(body) > ANSWER_MAX)
		return um_mistake_in(at, "body", "is over 1024 bytes");
	/* It becomes a header. */
	if (type != NULL
		&& type[strspn(type,
			   "abcdefghijklmnopqrstuvwxyz0123456789-+./=; ")]
			!= '\0')
		return um_mistake_in(at, "content_type",
			"is not a media type in lower case");
	description->answer_status = (int)status;
	return um_copy_text(at, body != NULL ? body : "",
		       &description->answer_body)
		&& um_copy_text(at, type != NULL ? type : "text/plain",
			&description->answer_type);
}

static bool
load_return(struct um_description *description, const struct um_place *at,
	json_t *node, const struct um_site *site)
{
	static const char *const keys[] = { "verify", "timestamp", "believed",
		"identity", "type", "elicitation", "amount", "currency",
		"reference", "outcomes", NULL };

	description->has_return = node != NULL;
	if (node == NULL)
		return site->return_secrets_len == 0
			|| um_mistake(at,
				"is not there, but the configuration "
				"has secrets for it");
	return um_only_keys(at, node, keys)
		&& um_reader_load(&description->back, at, node, site, true);
}

static bool
load(struct um_description *description, const struct um_place *at,
	json_t *root, const struct um_site *site)
{
	static const char *const keys[] = { "$schema", "name", "documentation",
		"notes", "payload", "verify", "timestamp", "events", "believed",
		"identity", "type", "elicitation", "amount", "currency",
		"reference", "outcomes", "answer", "return", NULL };
	struct um_place answer = um_place_key(at, "answer");
	struct um_place back = um_place_key(at, "return");
	const char *text;

	return um_only_keys(at, root, keys)
		&& um_get_text(at, root, "$schema", false, &text)
		&& um_get_text(at, root, "name", true, &text)
		&& um_get_text(at, root, "documentation", true, &text)
		&& um_get_text(at, root, "notes", false, &text)
		&& um_reader_load(&description->webhook, at, root, site, false)
		&& load_answer(description, &answer,
			json_object_get(root, "answer"))
		&& load_return(description, &back,
			json_object_get(root, "return"), site);
}

bool
um_description_load(struct um_description **out, const char *path,
	const struct um_site *site, struct um_error *err)
{
	struct um_place at = um_place_root(path, err);
	struct um_description *description = NULL;
	json_t *root = um_place_read_file(path, err);
	bool ok = false;

	*out = NULL;
	if (root == NULL)
		goto out;
	description = calloc(1, sizeof(*description));
	if (description == NULL) {
		um_mistake(&at, "out of memory");
		goto out;
	}
	if (!load(description, &at, root, site))
		goto out;
	*out = description;
	description = NULL;
	ok = true;
out:
	json_decref(root);
	um_description_free(description);
	return ok;
}

enum um_verdict
um_description_read(const struct um_description *description,
	const struct um_delivery *delivery, struct um_event *events,
	size_t *len)
{
	return um_reader_read(&description->webhook, delivery, events,
		UM_EVENTS_MAX, len);
}

bool
um_description_signs_return(const struct um_description *description)
{
	return description->has_return;
}

enum um_verdict
um_description_read_return(const struct um_description *description,
	const struct um_delivery *delivery, struct um_event *event)
{
	size_t len;

	*event = (struct um_event){ 0 };
	if (!description->has_return)
		return UM_DELIVERY_UNSIGNED;
	return um_reader_read(&description->back, delivery, event, 1, &len);
}

struct um_description_answer
um_description_answer(const struct um_description *description)
{
	return (struct um_description_answer){
		.status = description->answer_status,
		.body = description->answer_body,
		.content_type = description->answer_type,
	};
}
