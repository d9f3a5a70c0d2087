/* SPDX-License-Identifier: MIT */
#include "description/spec_load.h"

#include <stdlib.h>
#include <string.h>

#include "core/json_put.h"
#include "description/authorization.h"
#include "description/part_load.h"

#define ANSWER_MAX 1024 /* bytes of an answer's body */
#define ANSWER_MEMBERS_MAX 4

/* A member of the answer: a text, which may be a constant. */
static bool
put_member(struct um_buf *out, const struct um_conf_loc *at, json_t *object,
	const char *name, const struct um_expr_scope *scope)
{
	struct um_expr value = { 0 };
	bool ok = um_expr_load(&value, at, object, name, scope);

	if (ok && value.kind != UM_EXPR_LITERAL)
		ok = um_conf_member_error(at, name,
			"is not a text or a constant of the configuration");
	if (ok) {
		um_json_put_key(out, um_str(name));
		um_json_put_string(out, um_str(value.text));
	}
	um_expr_free(&value);
	return ok;
}

static bool
set_answer(struct um_spec *spec, const struct um_conf_loc *at, const char *key,
	const char *body, const char *type)
{
	if (body != NULL && strlen(body) > ANSWER_MAX)
		return um_conf_member_error(at, key,
			"is longer than 1024 bytes");
	return um_conf_copy_text(at, body != NULL ? body : "",
		       &spec->answer.body)
		&& um_conf_copy_text(at, type != NULL ? type : "text/plain",
			&spec->answer.content_type);
}

/* The object is the same for each delivery, and written only once. */
static bool
set_answer_json(struct um_spec *spec, const struct um_conf_loc *at,
	json_t *object, const struct um_provider_env *env)
{
	const struct um_expr_scope scope = { .constant = env->constant,
		.arg = env->arg };
	struct um_conf_loc here = um_conf_member(at, "json");
	struct um_buf body = { 0 };
	const char *name;
	json_t *value;
	bool ok = true;

	if (json_object_size(object) == 0
		|| json_object_size(object) > ANSWER_MEMBERS_MAX)
		return um_conf_error(&here, "is not an object of 1 to %d texts",
			ANSWER_MEMBERS_MAX);
	um_json_put_begin(&body);
	json_object_foreach (object, name, value)
		ok = put_member(&body, &here, object, name, &scope) && ok;
	um_json_put_end(&body);
	um_buf_put(&body, "", 1);
	ok = ok && (!body.failed || um_conf_error(&here, "out of memory"))
		&& set_answer(spec, at, "json", body.ptr, "application/json");
	um_buf_free(&body);
	return ok;
}

static bool
load_answer(struct um_spec *spec, const struct um_conf_loc *at, json_t *answer,
	const struct um_provider_env *env)
{
	static const char *const keys[] = { "status", "body", "content_type",
		"json", NULL };
	json_t *object = json_object_get(answer, "json");
	const char *body = NULL, *type = NULL;
	long long status = 200;

	if (answer != NULL
		&& (!um_conf_check_keys(at, answer, keys)
			|| !um_conf_get_integer(at, answer, "status", 200, 299,
				&status)
			|| !um_conf_get_text(at, answer, "body", false, &body)
			|| !um_conf_get_text(at, answer, "content_type",
				body != NULL, &type)))
		return false;
	if (body == NULL && type != NULL)
		return um_conf_member_error(at, "content_type",
			"is only allowed together with `body`");
	if (body != NULL && object != NULL)
		return um_conf_member_error(at, "json",
			"cannot be used together with `body`");
	/* It becomes a header. */
	if (type != NULL
		&& type[strspn(type,
			   "abcdefghijklmnopqrstuvwxyz0123456789-+./=; ")]
			!= '\0')
		return um_conf_member_error(at, "content_type",
			"is not a media type in lower case");
	spec->answer.status = (int)status;
	return object != NULL ? set_answer_json(spec, at, object, env)
			      : set_answer(spec, at, "body", body, type);
}

static bool
load_return(struct um_spec *spec, const struct um_conf_loc *at, json_t *node,
	const struct um_provider_env *env)
{
	static const char *const keys[] = { "verify", "timestamp", "trust",
		"live", "account", "identity", "type", "elicitation", "amount",
		"currency", "reference", "checkout", "outcomes", NULL };

	spec->has_return = node != NULL;
	if (node == NULL)
		return env->return_secrets_len == 0
			|| um_conf_error(at,
				"is missing, but the configuration has "
				"`return_secrets`");
	return um_conf_check_keys(at, node, keys)
		&& um_spec_part_load(&spec->back, at, node, env, true);
}

static bool
load_grace(struct um_spec *spec, const struct um_conf_loc *at,
	const json_t *root)
{
	long long seconds = 0;

	if (json_object_get(root, "grace") != NULL
		&& !um_conf_get_integer(at, root, "grace", 1, UM_GRACE_MAX_S,
			&seconds))
		return false;
	spec->grace_ms = seconds * 1000;
	return true;
}

/* A setting without effect would be trusted to protect. */
static bool
check_origin(const struct um_spec *spec, const struct um_conf_loc *at,
	const struct um_provider_env *env)
{
	const struct um_origin *webhook = &spec->webhook.origin;
	const struct um_origin *back = &spec->back.origin;

	if (env->mode != UM_MODE_DEFAULT && webhook->live.kind == UM_EXPR_NONE
		&& back->live.kind == UM_EXPR_NONE)
		return um_conf_member_error(at, "live",
			"is missing, but the configuration has a `mode`: "
			"events of this provider do not say theirs");
	if (env->accounts_len != 0 && webhook->account.kind == UM_EXPR_NONE
		&& back->account.kind == UM_EXPR_NONE)
		return um_conf_member_error(at, "account",
			"is missing, but the configuration has `accounts`: "
			"events of this provider do not name theirs");
	return true;
}

/* The webhook, and the browser's return, if one is signed. */
static bool
load_deliveries(struct um_spec *spec, const struct um_conf_loc *at,
	json_t *root, const struct um_provider_env *env)
{
	struct um_conf_loc answer = um_conf_member(at, "answer");
	struct um_conf_loc back = um_conf_member(at, "return");
	struct um_conf_loc list = um_conf_member(at, "reconcile");
	bool ok;

	/* Each is tried, so that all that is wrong is said at once. */
	ok = um_spec_part_load(&spec->webhook, at, root, env, false);
	ok = load_grace(spec, at, root) && ok;
	ok = load_answer(spec, &answer, json_object_get(root, "answer"), env)
		&& ok;
	ok = load_return(spec, &back, json_object_get(root, "return"), env)
		&& ok;
	ok = um_spec_part_load_list(spec, &list,
		     json_object_get(root, "reconcile"), env)
		&& ok;
	return ok && check_origin(spec, at, env);
}

/* A setting that a description without a webhook has no use for. */
static bool
check_no_deliveries(const struct um_conf_loc *at,
	const struct um_provider_env *env)
{
	if (env->secrets_len != 0 || env->return_secrets_len != 0
		|| env->accounts_len != 0 || env->certificate != NULL
		|| env->jwks_file != NULL || env->mode != UM_MODE_DEFAULT)
		return um_conf_member_error(at, "verify",
			"is missing, but the configuration has secrets, a "
			"certificate, a `mode` or `accounts`: this description "
			"has no webhook");
	return true;
}

/*
 * Of `oauth` only what the browser's return is compared with. The packages, which
 * use the rest, check it.
 */
static bool
load_oauth(struct um_spec *spec, const struct um_conf_loc *at,
	const json_t *root)
{
	static const char iss[] =
		"authorization_response_iss_parameter_supported";
	struct um_conf_loc here = um_conf_member(at, "oauth");
	const json_t *oauth = json_object_get(root, "oauth");
	const char *issuer;
	bool ok;

	if (oauth != NULL && !json_is_object(oauth))
		return um_conf_error(&here, "is not an object");
	ok = um_conf_get_text(&here, oauth, "issuer", false, &issuer);
	ok = um_conf_get_bool(&here, oauth, iss, &spec->sends_iss) && ok;
	if (!um_authorization_load(&spec->response, &here, oauth) || !ok)
		return false;
	/* An address with a {variable} in it is the Node package's to fill. */
	return issuer == NULL || strchr(issuer, '{') != NULL
		|| um_conf_copy_text(&here, issuer, &spec->issuer);
}

/* Whether the description has more than `oauth` and what is for people. */
static bool
describes_deliveries(const json_t *root)
{
	static const char *const others[] = { "$schema", "name",
		"documentation", "compared", "notes", "oauth" };
	size_t len = json_object_size(root);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		len -= json_object_get(root, others[i]) != NULL;
	return len != 0 || json_object_get(root, "oauth") == NULL;
}

static bool
load(struct um_spec *spec, const struct um_conf_loc *at, json_t *root,
	const struct um_provider_env *env)
{
	static const char *const keys[] = { "$schema", "name", "documentation",
		"compared", "notes", "payload", "verify", "timestamp", "events",
		"trust", "live", "account", "grace", "identity", "type",
		"elicitation", "amount", "currency", "reference", "checkout",
		"tax", "time", "subscription", "outcomes", "answer",
		"challenge", "return", "reconcile", "oauth", NULL };
	const char *text;

	bool ok = um_conf_check_keys(at, root, keys);

	/* Each is tried, so that all that is wrong is said at once. */
	if (!json_is_object(root))
		return false;
	ok = um_conf_get_text(at, root, "$schema", false, &text) && ok;
	ok = um_conf_get_text(at, root, "name", true, &text) && ok;
	ok = um_conf_get_text(at, root, "documentation", true, &text) && ok;
	ok = um_conf_get_day(at, root, "compared", &spec->compared_ms) && ok;
	ok = um_conf_get_text(at, root, "notes", false, &text) && ok;
	ok = load_oauth(spec, at, root) && ok;
	spec->has_webhook = describes_deliveries(root)
		&& (!env->has_no_webhook
			|| json_object_get(root, "oauth") == NULL);
	return (spec->has_webhook ? load_deliveries(spec, at, root, env)
				  : check_no_deliveries(at, env))
		&& ok;
}

bool
um_spec_load(struct um_spec **out, const char *path,
	const struct um_provider_env *env, struct um_error *err)
{
	struct um_conf_loc at = um_conf_root(path, err);
	struct um_spec *spec = NULL;
	json_t *root = um_conf_read_file(path, err);
	bool ok = false;

	*out = NULL;
	if (root == NULL)
		goto out;
	spec = calloc(1, sizeof(*spec));
	if (spec == NULL) {
		um_conf_error(&at, "out of memory");
		goto out;
	}
	if (!um_conf_copy_text(&at, path, &spec->path)
		|| !load(spec, &at, root, env))
		goto out;
	*out = spec;
	spec = NULL;
	ok = true;
out:
	json_decref(root);
	um_spec_free(spec);
	return ok;
}
