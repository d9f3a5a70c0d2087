/* SPDX-License-Identifier: MIT */
#include "api/create_request.h"

#include <stdlib.h>
#include <string.h>

#include "api/price.h"
#include "config/api.h"
#include "contract/limits.h"
#include "contract/seals.h"
#include "contract/texts.h"
#include "core/json_canonical.h"
#include "core/json_put.h"
#include "core/url.h"

#define PROVIDER_WORD "abcdefghijklmnopqrstuvwxyz0123456789_-"

static void
read_provider(struct um_create_request *create, struct um_reader *reader)
{
	struct um_str name = { 0 };

	if (!um_reader_word(reader, "provider", UM_REQUIRED, UM_PROVIDER_MAX,
		    PROVIDER_WORD, &name))
		return;
	if (name.len == 0 || name.ptr[0] == '_' || name.ptr[0] == '-') {
		um_reader_refuse(reader, "provider",
			"provider must begin with a letter or digit");
		return;
	}
	memcpy(create->provider, name.ptr, name.len);
	create->provider[name.len] = '\0';
}

static void
read_kind(struct um_create_request *create, struct um_reader *reader,
	const char *description)
{
	const struct um_description *its = um_description_find(
		um_str(description));
	size_t kind = 0;

	if (!um_reader_choice(reader, "kind", UM_REQUIRED, um_kind_words,
		    &kind))
		return;
	create->kind = (enum um_kind)kind;
	if ((create->kind == UM_KIND_PAYMENT && its != NULL && !its->payment)
		|| (create->kind == UM_KIND_SIGNATURE && its != NULL
			&& !its->signature))
		um_reader_refuse(reader, "kind",
			"provider cannot be of this kind: its description has "
			"no events for it");
}

static void
read_what(struct um_create_request *create, struct um_reader *reader,
	const char *description)
{
	bool pays = create->kind == UM_KIND_PAYMENT;

	bool has_item = pays || create->kind == UM_KIND_SIGNATURE;

	if (um_reader_is_for(reader, "item", has_item) && has_item)
		um_reader_text(reader, "item", UM_REQUIRED, 1, UM_ITEM_MAX,
			&create->item);
	if (um_reader_is_for(reader, "subscription", pays))
		um_reader_bool(reader, "subscription", &create->subscription);
	if (um_reader_is_for(reader, "expected", pays) && pays)
		um_expected_read(&create->expected, reader, description,
			create->subscription);
	if (um_reader_is_for(reader, "checkout", pays))
		um_reader_text(reader, "checkout", UM_OPTIONAL, 1,
			UM_REFERENCE_BYTES_MAX, &create->checkout);
	if (um_reader_is_for(reader, "pkce", create->kind == UM_KIND_OAUTH))
		um_reader_bool(reader, "pkce", &create->pkce);
}

static void
read_target_url(struct um_create_request *create, struct um_reader *reader)
{
	struct um_str *url = &create->target_url;
	char text[UM_TARGET_URL_MAX + 1];

	if (!um_reader_is_for(reader, "target_url",
		    !um_create_has_form(create->kind))
		|| !um_reader_text(reader, "target_url", UM_OPTIONAL, 1,
			UM_TARGET_URL_MAX, url))
		return;
	for (size_t i = 0; i < url->len; i++)
		if (url->ptr[i] <= ' ' || url->ptr[i] > '~'
			|| strchr("\"<>\\^`{|}", url->ptr[i]) != NULL) {
			um_reader_refuse(reader, "target_url",
				"target_url must be a URL: other characters "
				"are written with %%");
			return;
		}
	memcpy(text, url->ptr, url->len);
	text[url->len] = '\0';
	if (um_url_authority_end(text) == NULL)
		um_reader_refuse(reader, "target_url",
			"target_url must be https, or http on 127.0.0.1, "
			"localhost or [::1], and without a user name");
	else if (strchr(text, '#') != NULL)
		um_reader_refuse(reader, "target_url",
			UM_TEXT_TARGET_URL_FRAGMENT);
}

static void
read_rest(struct um_create_request *create, struct um_reader *reader)
{
	create->ttl_ms = UM_TTL_MS;
	create->verify_ms = -1;
	create->can_recheck = true;
	um_reader_text(reader, "resume_key", UM_OPTIONAL, 1, UM_RESUME_KEY_MAX,
		&create->resume_key);
	um_reader_text(reader, "name", UM_OPTIONAL, 1, UM_NAME_MAX,
		&create->name);
	um_reader_text(reader, "client_id", UM_OPTIONAL, 1, UM_CLIENT_ID_MAX,
		&create->client_id);
	um_reader_bool(reader, "same_client", &create->same_client);
	if (create->same_client && create->client_id.ptr == NULL)
		um_reader_refuse(reader, "same_client",
			"same_client needs a client_id");
	um_reader_int(reader, "ttl_ms", UM_OPTIONAL, 1, UM_TTL_MAX_MS,
		&create->ttl_ms);
	um_reader_bool(reader, "exclusive", &create->exclusive);
	um_reader_bool(reader, "can_recheck", &create->can_recheck);
	if (um_reader_is_for(reader, "verify_ms",
		    create->kind == UM_KIND_INPUT))
		um_reader_int(reader, "verify_ms", UM_OPTIONAL,
			UM_VERIFY_MIN_MS, UM_VERIFY_MAX_MS, &create->verify_ms);
	if (um_reader_text(reader, "traceparent", UM_OPTIONAL, 1,
		    UM_TRACEPARENT_LEN, &create->traceparent)
		&& !um_request_is_traceparent(create->traceparent))
		um_reader_refuse(reader, "traceparent",
			UM_TEXT_TRACEPARENT_FORM);
}

/* `about`, and what else is compared beside provider, kind, price and item. */
static void
put_about(struct um_buf *out, const struct um_create_request *create,
	const struct um_reader *root)
{
	static const char *const ours[] = { "subscription", "form", "approver",
		"four_eyes", "verify", NULL };
	const struct um_json_node *about = um_json_member(root->object,
		um_str("about"));

	if (about != NULL)
		um_json_canonical_without(out, about,
			create->asked.json.len != 0 || create->subscription
				? ours
				: NULL);
	else
		um_buf_puts(out, "{}");
	if (out->failed)
		return;
	out->len--; /* the bracket that ends it */
	if (create->subscription) {
		um_json_put_key(out, um_str("subscription"));
		um_json_put_bool(out, true);
	}
	if (create->asked.json.len != 0) {
		um_json_put_key(out, um_str("form"));
		um_buf_put(out, create->asked.json.ptr, create->asked.json.len);
	}
	if (create->asked.by_others) {
		um_json_put_key(out, um_str("approver"));
		um_json_canonical(out,
			um_json_member(root->object, um_str("approver")));
	}
	if (create->asked.four_eyes) {
		um_json_put_key(out, um_str("four_eyes"));
		um_json_put_bool(out, true);
	}
	if (create->verify_ms >= 0) {
		um_json_put_key(out, um_str("verify"));
		um_json_put_bool(out, true);
	}
	um_json_put_end(out);
}

/* What is asked for, as PROTOCOL.md has it. Its members are not yet sorted. */
static void
put_request(struct um_buf *out, const struct um_create_request *create,
	const struct um_reader *root)
{
	bool has_about = um_json_member(root->object, um_str("about")) != NULL
		|| create->asked.json.len != 0 || create->subscription;

	um_json_put_begin(out);
	um_json_put_member(out, "provider", um_str(create->provider));
	um_json_put_member(out, "kind", um_str(um_kind_words[create->kind]));
	if (create->item.ptr != NULL) {
		um_json_put_member(out, "item", create->item);
	} else if (create->expected.json.len != 0) {
		um_json_put_key(out, um_str("expected"));
		um_buf_put(out, create->expected.json.ptr,
			create->expected.json.len);
	}
	if (has_about) {
		um_json_put_key(out, um_str("about"));
		put_about(out, create, root);
	}
	if (create->same_client)
		um_json_put_member(out, "mcp_client", create->client_id);
	um_json_put_end(out);
}

/* The digest of a JSON text in its canonical form. */
static void
digest_of(uint8_t out[static UM_DIGEST_LEN], const struct um_keys *keys,
	const char *label, struct um_buf *json)
{
	struct um_json_node *root = um_json_parse_with_nul(um_buf_str(json),
		UM_JSON_VALUES_MAX, NULL);
	struct um_buf canonical = { 0 };

	if (root != NULL)
		um_json_canonical(&canonical, root);
	um_digest_of(out, keys, label, um_buf_str(&canonical));
	um_buf_free(&canonical);
	um_buf_free(json);
	free(root);
}

static void
make_digests(struct um_create_request *create, const struct um_reader *root,
	const struct um_keys *keys)
{
	static const char *const not_content[] = { "id", "traceparent", NULL };
	struct um_buf json = { 0 };

	put_request(&json, create, root);
	digest_of(create->request, keys, UM_REQUEST_LABEL, &json);
	um_json_canonical_without(&json, root->object, not_content);
	digest_of(create->content, keys, UM_CONTENT_LABEL, &json);
}

void
um_create_request_read(struct um_create_request *create,
	struct um_api_request *request, const struct um_context *context)
{
	struct um_reader *root = &request->root, about;
	const char *description;

	read_provider(create, root);
	description = um_config_description(context->config, create->provider);
	read_kind(create, root, description);
	um_api_read_subject(request, root, context, &create->owner);
	read_what(create, root, description);
	um_create_form_read(&create->asked, create->kind, root);
	read_target_url(create, root);
	um_reader_object(root, "about", UM_OPTIONAL, &about);
	read_rest(create, root);
	if (request->fault.message[0] == '\0')
		make_digests(create, root, context->keys);
}

void
um_create_request_free(struct um_create_request *create)
{
	um_buf_free(&create->expected.json);
	um_buf_free(&create->expected.price);
	um_create_form_free(&create->asked);
}
