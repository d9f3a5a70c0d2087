/* SPDX-License-Identifier: MIT */
#include "operate/walk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>
#include <openssl/rand.h>

#include "app/session.h"
#include "contract/statements.h"
#include "core/clock.h"
#include "core/encode.h"
#include "core/uuid.h"
#include "crypto/binding.h"
#include "crypto/check_signature.h"
#include "crypto/link.h"
#include "crypto/seal.h"
#include "crypto/ticket.h"

#define NAME UM_PROVIDER_OF_CHECK /* of provider, tenant and subject */
#define FORM "{\"title\":\"" NAME "\"}"
#define SESSION_S 120
#define RESULT_MAX 65536

static void
print_hex(const char *name, const struct um_buf *bytes)
{
	printf("%s ", name);
	for (size_t i = 0; i < bytes->len; i++)
		printf("%02x", (unsigned)(uint8_t)bytes->ptr[i]);
	putchar('\n');
}

static void
owner(uint8_t binding[static UM_BINDING_LEN], const struct um_keys *keys)
{
	um_binding_digest_of(binding, keys, um_str(NAME), um_str(NAME),
		um_str(""));
}

static bool
print_row(const struct um_keys *keys)
{
	uint8_t id[UM_UUID_LEN], binding[UM_BINDING_LEN], nonce[UM_NONCE_LEN];
	char state[UM_LINK_LEN + 1];
	struct um_buf form = { 0 };
	bool ok;

	owner(binding, keys);
	ok = RAND_bytes(id, sizeof(id)) == 1
		&& RAND_bytes(nonce, sizeof(nonce)) == 1;
	/* A random UUID (RFC 9562 section 5.4). */
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
	ok = ok && um_link_mint(state, id, keys, NAME)
		&& um_seal_put_for_page(&form, um_str(FORM), UM_USE_FORM, id,
			binding, keys, nonce);
	if (ok) {
		char text[UM_UUID_TEXT_LEN + 1];

		um_uuid_format(text, id);
		printf("id %s\nstate %s\nkid %u\n", text, state,
			(unsigned)um_keys_minting(keys)->kid);
		print_hex("form", &form);
	}
	um_buf_free(&form);
	return ok;
}

bool
um_walk_print_row(const struct um_config *config, struct um_error *err)
{
	struct um_keys *keys;
	bool ok;

	if (!um_config_load_keys(&keys, config, err))
		return false;
	ok = print_row(keys) || um_error(err, "OpenSSL failed");
	um_keys_free(keys);
	return ok;
}

bool
um_walk_print_cookies(const struct um_config *config, struct um_error *err)
{
	static const struct um_id_token_user user = { .subject = NAME };
	int64_t expires = um_clock_wall_ms() / 1000 + SESSION_S;
	bool is_ticket = config->user_check == UM_USER_TICKET;
	struct um_buf cookie = { 0 };
	uint8_t nonce[UM_NONCE_LEN];
	struct um_keys *keys;
	bool ok;

	if (!is_ticket && config->user_check != UM_USER_OPENID)
		return true;
	if (!um_config_load_keys(&keys, config, err))
		return false;
	ok = RAND_bytes(nonce, sizeof(nonce)) == 1
		&& (is_ticket ? um_ticket_put(&cookie, user.subject, expires,
			    keys, nonce)
			      : um_session_put(&cookie, config, keys, &user,
				      expires, nonce));
	if (ok)
		printf("%s=%.*s\n",
			is_ticket ? UM_TICKET_COOKIE : UM_SESSION_COOKIE,
			(int)cookie.len, cookie.ptr);
	else
		um_error(err, "OpenSSL failed");
	um_buf_free(&cookie);
	um_keys_free(keys);
	return ok;
}

bool
um_walk_print_delivery(const struct um_config *config, struct um_error *err)
{
	char signature[UM_CHECK_SIGNATURE_MAX + 1], body[64];
	struct um_keys *keys;
	bool ok;

	if (!um_config_load_keys(&keys, config, err))
		return false;
	snprintf(body, sizeof(body), "{\"" NAME "\":%lld}",
		(long long)(um_clock_wall_ms() / 1000));
	ok = um_check_signature_make(signature, keys, um_str(body))
		|| um_error(err, "OpenSSL failed");
	if (ok)
		printf("signature %s\nbody %s\n", signature, body);
	um_keys_free(keys);
	return ok;
}

static bool
print_result(const char *id_text, const char *sealed,
	const struct um_keys *keys, struct um_error *err)
{
	uint8_t id[UM_UUID_LEN], binding[UM_BINDING_LEN];
	static uint8_t bytes[RESULT_MAX];
	struct um_buf json = { 0 };
	size_t len;
	bool ok;

	if (!um_uuid_parse(id, um_str(id_text))
		|| !um_hex_decode(bytes, sizeof(bytes), &len, um_str(sealed)))
		return um_error(err, "not an id and a sealed result");
	owner(binding, keys);
	ok = um_seal_open(&json, (struct um_str){ (const char *)bytes, len },
		id, binding, keys);
	if (ok)
		printf("%.*s\n", (int)json.len, json.ptr);
	else if (len > 1)
		um_error(err,
			"it is sealed with key %u, which does not open it",
			(unsigned)bytes[1]);
	um_buf_free(&json);
	return ok;
}

bool
um_walk_print_result(const char *id, const char *sealed,
	const struct um_config *config, struct um_error *err)
{
	struct um_keys *keys;
	bool ok;

	if (!um_config_load_keys(&keys, config, err))
		return false;
	ok = print_result(id, sealed, keys, err);
	um_keys_free(keys);
	return ok;
}

/* Whether one of the notifications that have come says that it is completed. */
static bool
is_heard(PGconn *conn, const char *says)
{
	PGnotify *notify;
	bool heard = false;

	while ((notify = PQnotifies(conn)) != NULL) {
		heard = heard || strstr(notify->extra, says) != NULL;
		PQfreemem(notify);
	}
	return heard;
}

static bool
wait_for(PGconn *conn, const char *says, int64_t until, struct um_error *err)
{
	struct pollfd fd = { .fd = PQsocket(conn), .events = POLLIN };

	while (!is_heard(conn, says)) {
		int64_t left = until - um_monotonic_ms();
		int ready = left > 0 ? poll(&fd, 1, (int)left) : 0;

		if (ready == 0)
			return um_error(err, "no notification has come");
		if ((ready < 0 && errno != EINTR) || !PQconsumeInput(conn))
			return um_error(err, "%s", PQerrorMessage(conn));
	}
	return true;
}

bool
um_walk_listen(const char *id, const char *seconds, struct um_error *err)
{
	PGconn *conn = PQconnectdb("service=operator");
	PGresult *result = NULL;
	char says[128];
	bool ok;

	snprintf(says, sizeof(says),
		"{\"id\":\"%.36s\",\"status\":\"completed\"", id);
	if (PQstatus(conn) == CONNECTION_OK)
		result = PQexec(conn, "LISTEN " UM_SQL_CHANNEL);
	ok = PQresultStatus(result) == PGRES_COMMAND_OK;
	PQclear(result);
	if (ok) {
		puts("listening");
		fflush(stdout);
		ok = wait_for(conn, says,
			um_monotonic_ms() + strtol(seconds, NULL, 10) * 1000,
			err);
	} else {
		um_error(err, "%s", PQerrorMessage(conn));
	}
	if (ok)
		puts("heard");
	PQfinish(conn);
	return ok;
}
