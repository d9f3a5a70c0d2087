/* SPDX-License-Identifier: MIT */
/*
 * The `oauth` part of a description in the first line, and after it what a browser
 * brings back: only what is readable decides.
 */
#include "fuzz.h"

#include <jansson.h>

#include "description/authorization.h"

static bool
is_unreadable(const struct um_form *form, const char *name)
{
	const struct um_field *field = um_form_field(form, name);

	return field != NULL && field->unreadable != UM_REFUSAL_NONE;
}

static void
check(json_t *words, const struct um_form *form)
{
	enum um_refusal why = UM_REFUSAL_INTERNAL_ERROR;
	enum um_authorization said = um_authorization_read(words, form, &why);
	bool has_code = um_form_get(form, "code").len != 0;
	bool has_error = um_form_get(form, "error").len != 0
		|| is_unreadable(form, "error");

	HOLDS((said == UM_AUTHORIZATION_UNREADABLE)
		== (why != UM_REFUSAL_NONE));
	HOLDS((said == UM_AUTHORIZATION_UNREADABLE)
		== is_unreadable(form, "code"));
	if (has_code && has_error)
		HOLDS(said == UM_AUTHORIZATION_AMBIGUOUS);
	if (said == UM_AUTHORIZATION_CODE)
		HOLDS(has_code && !has_error);
	if (said == UM_AUTHORIZATION_CONSENTED
		|| said == UM_AUTHORIZATION_REQUESTED)
		HOLDS(words != NULL && !has_code && !has_error);
	/* Without words of its own, nothing else decides. */
	if (words == NULL)
		HOLDS(said != UM_AUTHORIZATION_DECLINED
			|| um_str_is(um_form_get(form, "error"),
				"access_denied"));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str json = fuzz_line(&rest);
	struct um_str text = fuzz_rest(&rest);
	json_t *oauth = json.len != 0
		? json_loadb(json.ptr, json.len, JSON_REJECT_DUPLICATES, NULL)
		: NULL;
	json_t *words = NULL;
	struct um_error err;
	struct um_conf_loc at = um_conf_root("words", &err);
	struct um_form form;

	if (!um_authorization_load(&words, &at, oauth))
		HOLDS(words == NULL && err.text[0] != '\0');
	if (um_form_parse_lenient(&form, text) == UM_REFUSAL_NONE) {
		check(NULL, &form);
		if (words != NULL)
			check(words, &form);
	}
	um_form_free(&form);
	json_decref(words);
	json_decref(oauth);
	fuzz_free(json);
	fuzz_free(text);
	return 0;
}
