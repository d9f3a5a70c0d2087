/* SPDX-License-Identifier: MIT */
#include "operate/issuer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "core/url.h"
#include "jose/jwks.h"

#define URL_MAX 1024

bool
um_issuer_print_keys(const char *path, struct um_error *err)
{
	struct um_jwks *jwks;

	if (!um_jwks_load(&jwks, path, err))
		return false;
	printf("%zu\n", um_jwks_count(jwks));
	um_jwks_free(jwks);
	return true;
}

/* A line of an address: the shell takes it as one word. */
static bool
print_url(const struct um_json_node *document, const char *name, bool required,
	struct um_error *err)
{
	const struct um_json_node *node = um_json_member(document,
		um_str(name));
	char url[URL_MAX + 1];

	if (node == NULL && !required)
		return true;
	if (!um_json_is(node, UM_JSON_STRING) || node->len > URL_MAX)
		return um_error(err, "the discovery document has no %s", name);
	memcpy(url, node->text, node->len);
	url[node->len] = '\0';
	for (size_t i = 0; i < node->len; i++)
		if (url[i] <= ' ' || url[i] > '~' || url[i] == '"'
			|| url[i] == '\\')
			url[0] = '\0';
	if (um_url_authority_end(url) == NULL)
		return um_error(err,
			"%s of the discovery document is not an address with "
			"https",
			name);
	printf("%s %s\n", name, url);
	return true;
}

/* Whether a list of words, if there is one, has this word. */
static bool
may_have(const struct um_json_node *document, const char *name,
	const char *word)
{
	const struct um_json_node *list = um_json_member(document,
		um_str(name));
	const struct um_json_node *element = NULL;

	while ((element = um_json_next(list, element)) != NULL)
		if (um_json_string_eq(element, um_str(word)))
			return true;
	return list == NULL;
}

static bool
print_document(const struct um_json_node *document, const char *issuer,
	struct um_error *err)
{
	if (!um_json_string_eq(um_json_member(document, um_str("issuer")),
		    um_str(issuer)))
		return um_error(err,
			"the discovery document is that of another issuer");
	if (!print_url(document, "jwks_uri", true, err)
		|| !print_url(document, "authorization_endpoint", true, err)
		|| !print_url(document, "end_session_endpoint", false, err))
		return false;
	if (!may_have(document, "response_types_supported", "id_token"))
		puts("id_token no");
	if (!may_have(document, "response_modes_supported", "form_post"))
		puts("form_post no");
	return true;
}

bool
um_issuer_print_discovery(const char *path, const char *issuer,
	struct um_error *err)
{
	struct um_buf text = { 0 };
	struct um_json_fault fault;
	struct um_json_node *document = NULL;
	bool ok = false;

	if (um_file_read(&text, path, UM_JWKS_FILE_MAX, err)) {
		document = um_json_parse(um_buf_str(&text), UM_JSON_VALUES_MAX,
			&fault);
		ok = document != NULL
			? print_document(document, issuer, err)
			: um_error(err, "the discovery document %s",
				fault.reason);
	}
	free(document);
	um_buf_free(&text);
	return ok;
}
