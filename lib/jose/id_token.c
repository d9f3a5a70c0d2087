/* SPDX-License-Identifier: MIT */
#include "jose/id_token.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "core/json.h"

#define CLAIMS_MAX 4096 /* values and names in a payload */

const char *
um_id_token_text(enum um_id_token_verdict verdict)
{
	static const char *const texts[] = {
#define X(name, text) text,
		UM_ID_TOKEN_VERDICTS(X)
#undef X
	};

	return texts[verdict];
}

static const struct um_json_node *
member(const struct um_json_node *claims, const char *name)
{
	return um_json_member(claims, um_str(name));
}

/* A NumericDate (RFC 7519 section 2), without its fraction. */
static bool
get_time(const struct um_json_node *claims, const char *name, int64_t *out)
{
	const struct um_json_node *node = member(claims, name);
	double value;

	if (um_json_is(node, UM_JSON_INTEGER)) {
		*out = strtoll(node->text, NULL, 10);
		return true;
	}
	if (!um_json_is(node, UM_JSON_REAL))
		return false;
	value = strtod(node->text, NULL);
	if (value < 0 || value > 1e15)
		return false;
	*out = (int64_t)value;
	return true;
}

/* The claim is a time in the past, at most `age` seconds before now. */
static bool
is_recent(const struct um_json_node *claims, const char *name, int64_t age,
	int64_t now)
{
	int64_t then;

	return get_time(claims, name, &then) && then <= now + UM_ID_TOKEN_SKEW
		&& then >= now - age - UM_ID_TOKEN_SKEW;
}

static enum um_id_token_verdict
check_audience(const struct um_json_node *claims, struct um_str client_id)
{
	const struct um_json_node *aud = member(claims, "aud");
	const struct um_json_node *azp = member(claims, "azp");
	const struct um_json_node *one = NULL;
	bool mine = um_json_string_eq(aud, client_id), others = false;

	while ((one = um_json_next(aud, one)) != NULL)
		if (um_json_string_eq(one, client_id))
			mine = true;
		else
			others = true;
	if (!mine)
		return UM_ID_TOKEN_AUDIENCE;
	if (azp == NULL ? others : !um_json_string_eq(azp, client_id))
		return UM_ID_TOKEN_AUTHORIZED_PARTY;
	return UM_ID_TOKEN_GOOD;
}

static bool
is_nonce(const struct um_json_node *node, struct um_str nonce)
{
	return um_json_is(node, UM_JSON_STRING) && nonce.len != 0
		&& node->len == nonce.len
		&& CRYPTO_memcmp(node->text, nonce.ptr, nonce.len) == 0;
}

static bool
is_subject(const struct um_json_node *node)
{
	return um_json_is(node, UM_JSON_STRING) && node->len > 0
		&& node->len <= UM_SUBJECT_MAX;
}

/* The claim of the subject, which the token has to have beside `sub`. */
static enum um_id_token_verdict
get_subject(char subject[static UM_SUBJECT_MAX + 1],
	const struct um_json_node *claims, const char *claim)
{
	const struct um_json_node *node = member(claims, claim);

	if (!is_subject(member(claims, "sub")) || !is_subject(node))
		return UM_ID_TOKEN_SUBJECT;
	if (strcmp(claim, "email") == 0
		&& !um_json_is(member(claims, "email_verified"), UM_JSON_TRUE))
		return UM_ID_TOKEN_EMAIL_UNVERIFIED;
	memcpy(subject, node->text, node->len);
	subject[node->len] = '\0';
	return UM_ID_TOKEN_GOOD;
}

static void
get_name(char name[static UM_ID_TOKEN_NAME_MAX + 1],
	const struct um_json_node *claims)
{
	static const char *const names[] = { "preferred_username", "email",
		"name" };

	name[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct um_json_node *node = member(claims, names[i]);

		if (!um_json_is(node, UM_JSON_STRING) || node->len == 0
			|| node->len > UM_ID_TOKEN_NAME_MAX)
			continue;
		memcpy(name, node->text, node->len);
		name[node->len] = '\0';
		return;
	}
}

/* Appends a word of printable ASCII. False: it is none, or there is no room. */
static bool
add_word(char how[static UM_ID_TOKEN_HOW_MAX + 1],
	const struct um_json_node *word)
{
	size_t len = strlen(how), space = len != 0;

	if (!um_json_is(word, UM_JSON_STRING) || word->len == 0
		|| len + space + word->len > UM_ID_TOKEN_HOW_MAX)
		return false;
	for (size_t i = 0; i < word->len; i++)
		if (word->text[i] <= ' ' || word->text[i] > '~')
			return false;
	if (space != 0)
		how[len] = ' ';
	memcpy(how + len + space, word->text, word->len);
	how[len + space + word->len] = '\0';
	return true;
}

/* When and how the user has signed in (section 2). */
static void
get_sign_in(struct um_id_token_user *user, const struct um_json_node *claims)
{
	const struct um_json_node *amr = member(claims, "amr"), *one = NULL;

	user->how[0] = '\0';
	if (!get_time(claims, "auth_time", &user->auth_time))
		user->auth_time = 0;
	if (!get_time(claims, "iat", &user->issued_at))
		user->issued_at = 0;
	while ((one = um_json_next(amr, one)) != NULL)
		add_word(user->how, one);
	if (user->how[0] == '\0')
		add_word(user->how, member(claims, "acr"));
}

static enum um_id_token_verdict
check_sign_in(const struct um_json_node *claims,
	const struct um_id_token_rules *rules, int64_t now)
{
	int64_t then;

	if (rules->max_age != 0
		&& !is_recent(claims, "auth_time", rules->max_age, now))
		return UM_ID_TOKEN_AUTH_TIME;
	if (rules->since != 0
		&& (!get_time(claims, "auth_time", &then)
			|| then > now + UM_ID_TOKEN_SKEW
			|| then < rules->since - UM_ID_TOKEN_FRESH_SKEW))
		return UM_ID_TOKEN_AUTH_TIME;
	return UM_ID_TOKEN_GOOD;
}

/* In the order of section 3.1.3.7; nbf is RFC 7519 section 4.1.5. */
static enum um_id_token_verdict
check_claims(struct um_id_token_user *user, const struct um_json_node *claims,
	const struct um_id_token_rules *rules, int64_t now)
{
	enum um_id_token_verdict verdict;
	int64_t expires, not_before;

	if (!um_json_is(claims, UM_JSON_OBJECT))
		return UM_ID_TOKEN_CLAIMS;
	if (!um_json_string_eq(member(claims, "iss"), rules->issuer))
		return UM_ID_TOKEN_ISSUER;
	verdict = check_audience(claims, rules->client_id);
	if (verdict != UM_ID_TOKEN_GOOD)
		return verdict;
	if (!get_time(claims, "exp", &expires)
		|| expires <= now - UM_ID_TOKEN_SKEW)
		return UM_ID_TOKEN_EXPIRED;
	if (member(claims, "nbf") != NULL
		&& (!get_time(claims, "nbf", &not_before)
			|| not_before > now + UM_ID_TOKEN_SKEW))
		return UM_ID_TOKEN_NOT_BEFORE;
	if (!is_recent(claims, "iat", UM_ID_TOKEN_AGE_MAX, now))
		return UM_ID_TOKEN_ISSUED_AT;
	if (!is_nonce(member(claims, "nonce"), rules->nonce))
		return UM_ID_TOKEN_NONCE;
	verdict = check_sign_in(claims, rules, now);
	if (verdict != UM_ID_TOKEN_GOOD)
		return verdict;
	verdict = get_subject(user->subject, claims, rules->claim);
	if (verdict == UM_ID_TOKEN_GOOD) {
		get_name(user->name, claims);
		get_sign_in(user, claims);
	}
	return verdict;
}

static enum um_id_token_verdict
verdict_of(enum um_jws_verdict verdict)
{
	switch (verdict) {
	case UM_JWS_GOOD:
		return UM_ID_TOKEN_GOOD;
	case UM_JWS_ALGORITHM:
		return UM_ID_TOKEN_ALGORITHM;
	case UM_JWS_UNKNOWN_KEY:
		return UM_ID_TOKEN_UNKNOWN_KEY;
	case UM_JWS_FORGED:
		return UM_ID_TOKEN_FORGED;
	case UM_JWS_MALFORMED:
		break;
	}
	return UM_ID_TOKEN_MALFORMED;
}

enum um_id_token_verdict
um_id_token_check(struct um_id_token_user *user, struct um_str token,
	const struct um_jwks *jwks, const struct um_id_token_rules *rules,
	int64_t now)
{
	struct um_buf payload = { 0 };
	struct um_json_node *claims = NULL;
	enum um_id_token_verdict verdict = verdict_of(
		um_jws_verify(&payload, token, jwks));

	if (verdict == UM_ID_TOKEN_GOOD) {
		claims = um_json_parse(um_buf_str(&payload), CLAIMS_MAX, NULL);
		verdict = check_claims(user, claims, rules, now);
	}
	free(claims);
	um_buf_free(&payload);
	return verdict;
}
