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

/* What is there and cannot be read is not absent. */
static bool
is_there(const struct um_form *form, const char *name)
{
	struct um_str value;

	return um_form_read(form, name, &value) != UM_REFUSAL_NONE
		|| value.len != 0;
}

static bool
has_error(json_t *words, const struct um_form *form)
{
	const json_t *names = json_object_get(words, "errors");
	bool found = is_there(form, "error");

	for (size_t i = 0; i < json_array_size(names); i++)
		found |= is_there(form,
			json_string_value(json_array_get(names, i)));
	return found;
}

static bool
is_met(json_t *condition, const struct um_form *form)
{
	bool met = true;
	const char *name;
	json_t *value;

	json_object_foreach (condition, name, value)
		met &= um_form_is(form, name, json_string_value(value));
	return met;
}

/* Whether one of the conditions is met. */
static bool
says(json_t *words, const char *key, const struct um_form *form)
{
	const json_t *list = json_object_get(words, key);
	bool found = false;

	for (size_t i = 0; i < json_array_size(list); i++)
		found |= is_met(json_array_get(list, i), form);
	return found;
}

enum um_authorization
um_authorization_read(json_t *words, const struct um_form *form,
	enum um_refusal *why)
{
	struct um_str code;
	bool failed = has_error(words, form);

	*why = um_form_read(form, "code", &code);
	if (*why != UM_REFUSAL_NONE)
		return UM_AUTHORIZATION_UNREADABLE;
	if (code.len != 0)
		return failed ? UM_AUTHORIZATION_AMBIGUOUS
			      : UM_AUTHORIZATION_CODE;
	if (um_form_is(form, "error", "access_denied")
		|| says(words, "declined", form))
		return UM_AUTHORIZATION_DECLINED;
	if (failed)
		return UM_AUTHORIZATION_FAILED;
	if (says(words, "consented", form))
		return UM_AUTHORIZATION_CONSENTED;
	return says(words, "requested", form) ? UM_AUTHORIZATION_REQUESTED
					      : UM_AUTHORIZATION_FAILED;
}
