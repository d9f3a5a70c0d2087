/* SPDX-License-Identifier: MIT */
/*
 * An outcome that a notification brings: it is shown as its row would be, byte for
 * byte, or the row is read.
 */
#include "api/announced.h"

#include <stdlib.h>
#include <string.h>

#include "api/shown.h"
#include "core/encode.h"
#include "core/json_put.h"
#include "crypto/seal.h"
#include "support.h"

#define KEYS "1 ERERERERERERERERERERERERERERERERERERERERERE\n"
#define RESULT "{\"code\":\"abc\",\"iss\":\"https://p\"}"
#define ACCEPT "{\"action\":\"accept\",\"reason\":\"\",\"result\":" RESULT "}"
#define PAID                                                                   \
	"{\"event\":\"e\",\"type\":\"paid\",\"reference\":\"pi_1\","           \
	"\"amount\":1050,\"currency\":\"EUR\"}"
#define PROVED                                                                 \
	"{\"action\":\"accept\",\"reason\":\"\",\"reference\":\"pi_1\","       \
	"\"result\":" PAID "}"
#define VERIFIER "{\"code_verifier\":\"v\",\"nonce\":\"n\"}"

static const uint8_t id[UM_UUID_LEN] = { 1, 2, 3 };
static const uint8_t binding[UM_BINDING_LEN] = { 4, 5, 6 };
static const uint8_t nonce[UM_NONCE_LEN] = { 7, 8, 9 };

static struct um_keys *keys;

static struct um_shown_columns
pending(const char *kind)
{
	return (struct um_shown_columns){ .provider = um_str("demo"),
		.kind = um_str(kind),
		.status = um_str("opened"),
		.reason = um_str(""),
		.failed_attempts = 2,
		.expires_at = um_str("2026-11-29T01:00:00.000Z") };
}

/* A row of this owner that was read, and is not completed. */
struct fixture {
	struct um_watched watched;
	struct um_watched_element element;
};

static void
begin(struct fixture *f, const char *kind, const struct um_buf *verifier)
{
	struct um_shown_columns columns = pending(kind);
	struct um_watched_state state = { .is_completed = false };
	struct um_buf object = { 0 };

	*f = (struct fixture){ .element = { .has_seen = true } };
	memcpy(f->element.id, id, sizeof(id));
	memcpy(f->element.binding, binding, sizeof(binding));
	um_watched_begin(&f->watched);
	assert_true(um_watched_join(&f->watched, &f->element, 0));
	um_shown_put_columns(&object, state.digest, id, &columns, keys);
	state.object = um_buf_str(&object);
	if (verifier != NULL)
		state.verifier = um_buf_str(verifier);
	um_watched_begin_read(&f->element);
	um_watched_end_read(&f->watched, &f->element, &state, 1000, true);
	um_buf_free(&object);
}

static void
end(struct fixture *f)
{
	um_watched_leave(&f->watched, &f->element, 0);
	um_watched_free(&f->watched);
}

/* A notification with this outcome, as the database writes it. */
static void
put_notification(struct um_buf *out, const char *json, bool of_event,
	const char *status, const char *more)
{
	struct um_buf sealed = { 0 };

	assert_true(um_seal_put_outcome(&sealed, um_str(json), id,
		of_event ? NULL : binding, keys, nonce));
	um_buf_cat(out, "{\"id\":\"x\",\"status\":\"", status, "\"", more,
		",\"outcome\":\"");
	um_base64_put(out, (const uint8_t *)sealed.ptr, sealed.len);
	um_buf_puts(out, "\"}");
	um_buf_free(&sealed);
}

static bool
takes(struct fixture *f, struct um_str notification, struct um_buf *object,
	uint8_t digest[static UM_SEEN_BYTES])
{
	struct um_json_node *node = um_json_parse(notification, 64, NULL);
	struct um_watched_state state;
	bool taken;

	assert_non_null(node);
	taken = um_announced_put(&state, object, f->element.row, node, keys);
	if (taken) {
		assert_true(state.is_completed);
		memcpy(digest, state.digest, UM_SEEN_BYTES);
	}
	free(node);
	return taken;
}

/* What is shown is what a read of the row would show, with the same digest. */
static void
assert_shown(struct fixture *f, const char *json, bool of_event,
	const struct um_shown_columns *columns)
{
	uint8_t expected_digest[UM_SEEN_BYTES], digest[UM_SEEN_BYTES];
	struct um_buf notification = { 0 }, object = { 0 }, expected = { 0 };

	put_notification(&notification, json, of_event, "completed", "");
	assert_true(takes(f, um_buf_str(&notification), &object, digest));
	um_shown_put_columns(&expected, expected_digest, id, columns, keys);
	assert_true(um_str_eq(um_buf_str(&object), um_buf_str(&expected)));
	assert_memory_equal(digest, expected_digest, sizeof(digest));
	um_buf_free(&notification);
	um_buf_free(&object);
	um_buf_free(&expected);
}

TEST(a_return_is_shown_as_its_row_would_be)
{
	struct um_shown_columns columns = pending("oauth");
	struct fixture f;

	columns.status = um_str("completed");
	columns.action = um_str("accept");
	columns.result = um_str(RESULT);
	begin(&f, "oauth", NULL);
	assert_shown(&f, ACCEPT, false, &columns);
	end(&f);
}

TEST(with_the_verifier_of_its_code)
{
	struct um_shown_columns columns = pending("oauth");
	struct um_buf verifier = { 0 };
	struct fixture f;

	assert_true(um_seal_put_for_page(&verifier, um_str(VERIFIER),
		UM_USE_VERIFIER, id, binding, keys, nonce));
	columns.status = um_str("completed");
	columns.action = um_str("accept");
	columns.result = um_str(RESULT);
	columns.verifier = um_str(VERIFIER);
	begin(&f, "oauth", &verifier);
	assert_shown(&f, ACCEPT, false, &columns);
	columns.action = um_str("decline");
	columns.reason = um_str("access_denied");
	columns.result = um_str("{}");
	columns.verifier = um_str(NULL);
	assert_shown(&f,
		"{\"action\":\"decline\",\"reason\":\"access_denied\","
		"\"result\":{}}",
		false, &columns);
	end(&f);
	um_buf_free(&verifier);
}

/* What is not believed. */
TEST(otherwise_the_row_is_read)
{
	static const struct {
		const char *label, *kind, *json, *status, *more;
		bool of_event;
	} cases[] = {
		{ "it is not completed", "oauth", ACCEPT, "processing", "",
			false },
		{ "it came late", "oauth", ACCEPT, "completed",
			",\"late\":true", false },
		{ "money went back", "oauth", ACCEPT, "completed",
			",\"refunded\":true", false },
		{ "a payment, which a claim may hold", "payment", PROVED,
			"completed", "", true },
		{ "what was typed, which a claim takes away", "input",
			"{\"action\":\"accept\",\"reason\":\"\","
			"\"result\":{\"values\":{}}}",
			"completed", "", false },
		{ "members in another order", "oauth",
			"{\"reason\":\"\",\"action\":\"accept\","
			"\"result\":" RESULT "}",
			"completed", "", false },
		{ "a member more", "oauth",
			"{\"action\":\"accept\",\"reason\":\"\","
			"\"result\":{},\"z\":{}}",
			"completed", "", false },
		{ "no result", "oauth",
			"{\"action\":\"accept\",\"reason\":\"\"}", "completed",
			"", false },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf notification = { 0 }, object = { 0 };
		uint8_t digest[UM_SEEN_BYTES];
		struct fixture f;

		begin(&f, cases[i].kind, NULL);
		put_notification(&notification, cases[i].json,
			cases[i].of_event, cases[i].status, cases[i].more);
		assert_row(cases[i].label,
			!takes(&f, um_buf_str(&notification), &object, digest));
		end(&f);
		um_buf_free(&notification);
		um_buf_free(&object);
	}
}

/* Anyone who can connect to the database can send such a text. */
TEST(what_is_forged_cut_or_of_another_owner_does_not_open)
{
	struct um_buf notification = { 0 }, object = { 0 };
	uint8_t digest[UM_SEEN_BYTES];
	struct fixture f;
	const char *outcome;

	begin(&f, "oauth", NULL);
	put_notification(&notification, ACCEPT, false, "completed", "");
	outcome = strstr(notification.ptr, "\"outcome\":\"") + 11;
	assert_true(takes(&f, um_buf_str(&notification), &object, digest));
	for (size_t at = (size_t)(outcome - notification.ptr);
		at < notification.len - 4; at++) {
		char was = notification.ptr[at];

		notification.ptr[at] = was == 'A' ? 'B' : 'A';
		assert_false(
			takes(&f, um_buf_str(&notification), &object, digest));
		notification.ptr[at] = was;
	}
	f.element.row->binding[0] ^= 1;
	assert_false(takes(&f, um_buf_str(&notification), &object, digest));
	f.element.row->binding[0] ^= 1;
	f.element.row->is_completed = true;
	assert_false(takes(&f, um_buf_str(&notification), &object, digest));
	assert_false(
		takes(&f, um_str("{\"id\":\"x\",\"status\":\"completed\"}"),
			&object, digest));
	end(&f);
	um_buf_free(&notification);
	um_buf_free(&object);
}

static int
load_keys(void **state)
{
	(void)state;
	keys = keys_of(KEYS);
	return 0;
}

static int
free_keys(void **state)
{
	(void)state;
	um_keys_free(keys);
	return 0;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_is_shown_as_its_row_would_be),
		cmocka_unit_test(with_the_verifier_of_its_code),
		cmocka_unit_test(otherwise_the_row_is_read),
		cmocka_unit_test(
			what_is_forged_cut_or_of_another_owner_does_not_open),
	};

	return cmocka_run_group_tests(tests, load_keys, free_keys);
}
