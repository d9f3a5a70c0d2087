/* SPDX-License-Identifier: MIT */
#include "description/authorization.h"

#include <stddef.h>
#include <string.h>

/* A condition: parameters that all must have these values. */
static bool
check_condition(const struct um_conf_loc *at, json_t *condition)
{
	const char *name, *text;
	json_t *value;

	if (json_object_size(condition) == 0)
		return um_conf_error(at,
			"is not an object of parameters and their values");
	json_object_foreach (condition, name, value)
		if (!um_conf_get_text(at, condition, name, true, &text))
			return false;
	return true;
}

static bool
check_conditions(const struct um_conf_loc *at, const json_t *words,
	const char *key)
{
	struct um_conf_loc here = um_conf_member(at, key);
	const json_t *list = json_object_get(words, key);
	size_t len = json_array_size(list);
	bool ok = true;

	if (list == NULL)
		return true;
	if (len == 0 || len > UM_STRLIST_MAX)
		return um_conf_error(&here, "is not a list of 1 to %d objects",
			UM_STRLIST_MAX);
	for (size_t i = 0; i < len; i++) {
		struct um_conf_loc element = um_conf_element(&here, i);

		ok = check_condition(&element, json_array_get(list, i)) && ok;
	}
	return ok;
}

static bool
check_errors(const struct um_conf_loc *at, const json_t *words)
{
	struct um_conf_loc here = um_conf_member(at, "errors");
	struct um_strlist names = { 0 };
	json_t *errors = json_object_get(words, "errors");
	bool ok = errors == NULL
		|| um_conf_get_strlist(&names, &here, errors, false);

	um_strlist_free(&names);
	return ok;
}

bool
um_authorization_load(json_t **out, const struct um_conf_loc *at,
	const json_t *oauth)
{
	static const char key[] = "authorization_response";
	static const char *const keys[] = { "errors", "declined", "consented",
		"requested", NULL };
	struct um_conf_loc here = um_conf_member(at, key);
	json_t *words = json_object_get(oauth, key);
	bool ok;

	*out = NULL;
	if (words == NULL)
		return true;
	if (!um_conf_check_keys(&here, words, keys))
		return false;
	ok = check_errors(&here, words);
	ok = check_conditions(&here, words, "declined") && ok;
	ok = check_conditions(&here, words, "consented") && ok;
	ok = check_conditions(&here, words, "requested") && ok;
	if (ok)
		*out = json_incref(words);
	return ok;
}

/* Remembers the first parameter that decides and cannot be read. */
static struct um_str
read_parameter(const struct um_form *form, const char *name,
	enum um_refusal *why)
{
	const struct um_field *field = um_form_field(form, name);

	if (field != NULL && *why == UM_REFUSAL_NONE)
		*why = field->unreadable;
	return um_form_get(form, name);
}

static bool
has_error(json_t *words, const struct um_form *form, enum um_refusal *why)
{
	bool found = read_parameter(form, "error", why).len != 0;
	const json_t *names = json_object_get(words, "errors");

	for (size_t i = 0; i < json_array_size(names); i++)
		found |= read_parameter(form,
				 json_string_value(json_array_get(names, i)),
				 why)
				 .len
			!= 0;
	return found;
}

static bool
is_met(json_t *condition, const struct um_form *form, enum um_refusal *why)
{
	bool met = true;
	const char *name;
	json_t *value;

	json_object_foreach (condition, name, value)
		met &= um_str_is(read_parameter(form, name, why),
			json_string_value(value));
	return met;
}

/* Whether one of the conditions is met. */
static bool
says(json_t *words, const char *key, const struct um_form *form,
	enum um_refusal *why)
{
	const json_t *list = json_object_get(words, key);
	bool found = false;

	for (size_t i = 0; i < json_array_size(list); i++)
		found |= is_met(json_array_get(list, i), form, why);
	return found;
}

enum um_authorization
um_authorization_read(json_t *words, const struct um_form *form,
	enum um_refusal *why)
{
	bool has_code, failed, declined, consented, requested;

	*why = UM_REFUSAL_NONE;
	/* Each is read, so that none that is unreadable counts as absent. */
	has_code = read_parameter(form, "code", why).len != 0;
	failed = has_error(words, form, why);
	declined = um_str_is(um_form_get(form, "error"), "access_denied")
		|| says(words, "declined", form, why);
	consented = says(words, "consented", form, why);
	requested = says(words, "requested", form, why);
	if (*why != UM_REFUSAL_NONE)
		return UM_AUTHORIZATION_UNREADABLE;
	if (has_code)
		return failed ? UM_AUTHORIZATION_AMBIGUOUS
			      : UM_AUTHORIZATION_CODE;
	if (declined)
		return UM_AUTHORIZATION_DECLINED;
	if (failed)
		return UM_AUTHORIZATION_FAILED;
	if (consented)
		return UM_AUTHORIZATION_CONSENTED;
	return requested ? UM_AUTHORIZATION_REQUESTED : UM_AUTHORIZATION_FAILED;
}
