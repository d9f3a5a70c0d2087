/* SPDX-License-Identifier: MIT */
/* What a browser keeps of a form whose session has ended, and for whom. */
#include "app/kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/encode.h"
#include "crypto/seal.h"
#include "program_case.h"

#define FORM                                                                   \
	"{\"title\":\"T\",\"fields\":["                                        \
	"{\"name\":\"key\",\"type\":\"secret\",\"label\":\"L\"},"              \
	"{\"name\":\"mail\",\"type\":\"email\",\"label\":\"L\"},"              \
	"{\"name\":\"count\",\"type\":\"number\",\"label\":\"L\"},"            \
	"{\"name\":\"terms\",\"type\":\"checkbox\",\"label\":\"L\","           \
	"\"default\":true},"                                                   \
	"{\"name\":\"notes\",\"type\":\"multiline\",\"label\":\"L\"}]}"
#define APPROVAL "{\"title\":\"T\",\"comment\":\"optional\"}"

/* A browser with this cookie, in which a user is known or not. */
static struct um_exchange
browser_of(const char *cookie, const char *user, uint8_t id)
{
	struct um_exchange ex = { .token.id = { id } };

	snprintf(ex.cookie, sizeof(ex.cookie), "%s", cookie);
	snprintf(ex.user, sizeof(ex.user), "%s", user);
	um_browser_digest(ex.token.browser, case_context.keys, um_str(cookie));
	return ex;
}

static void
define(struct um_definition *definition, const char *json, bool is_approval)
{
	struct um_schema_fault fault;

	assert_true(um_definition_read(definition, um_str(json), is_approval,
		&fault));
}

/* The reader that the page of this exchange has. The caller frees it. */
static struct um_buf
reader_of(const struct um_exchange *ex)
{
	struct um_buf reader = { 0 };

	assert_true(um_kept_put_reader(&reader, &case_context, ex));
	assert_false(reader.failed);
	return reader;
}

/* Sends a form for `reader` without a session, and keeps what was typed. */
static void
send_form(struct um_exchange *ex, const char *form, bool is_approval,
	struct um_str reader, const char *typed)
{
	struct um_definition definition = { 0 };
	struct um_answers answers = { 0 };
	struct um_buf body = { 0 };

	um_buf_puts(&body, "reader=");
	um_buf_put(&body, reader.ptr, reader.len);
	um_buf_cat(&body, "&", typed);
	assert_int_equal(um_form_parse_max(&ex->form, um_buf_str(&body), 32768),
		UM_REFUSAL_NONE);
	assert_true(um_kept_read_reader(&case_context, ex));
	define(&definition, form, is_approval);
	assert_int_equal(um_answers_read(&answers, &definition, &ex->form,
				 false),
		UM_ANSWERS_READ);
	um_kept_seal(&case_context, ex, &definition, &answers);
	um_answers_free(&answers);
	um_definition_free(&definition);
	um_buf_free(&body);
}

/* What a page shows again, as JSON of texts, or nothing. The caller frees it. */
static struct um_buf
shown(struct um_exchange *ex, const char *form, bool is_approval,
	struct um_str kept)
{
	struct um_definition definition = { 0 };
	struct um_answers answers = { 0 };
	struct um_buf header = { 0 }, json = { 0 };

	um_buf_puts(&header, UM_KEPT_COOKIE "=");
	um_buf_put(&header, kept.ptr, kept.len);
	ex->request.cookie = um_buf_str(&header);
	define(&definition, form, is_approval);
	if (um_kept_read(&answers, &case_context, ex, &definition))
		um_answers_put_typed(&json, &answers, &definition, 65536);
	um_answers_free(&answers);
	um_definition_free(&definition);
	um_buf_free(&header);
	return json;
}

static const char *
text_of(struct um_buf *buf)
{
	um_buf_put(buf, "", 1);
	return buf->ptr;
}

TEST(what_was_typed_is_there_again_without_secrets)
{
	struct um_exchange page = browser_of(CASE_COOKIE, "ada", 1);
	struct um_exchange sent = browser_of(CASE_COOKIE, "", 1);
	struct um_buf reader = reader_of(&page), json;

	send_form(&sent, FORM, false, um_buf_str(&reader),
		"field.key=" SECRET "&field.mail=%22zoe%3C&field.count=one&"
		"field.notes=a%0D%0Ab");
	assert_string_equal(sent.reader, "ada");
	assert_true(sent.keeps_all);
	json = shown(&page, FORM, false, um_buf_str(&sent.kept));
	assert_string_equal(text_of(&json),
		"{\"mail\":\"\\\"zoe<\",\"count\":\"one\","
		"\"notes\":\"a\\nb\"}");
	um_buf_free(&json);
	um_buf_free(&reader);
	um_exchange_free(&sent);
}

TEST(nobody_else_is_shown_it)
{
	static const struct {
		const char *name, *cookie, *user;
		uint8_t id;
		bool shown;
	} cases[] = {
		{ "the reader", CASE_COOKIE, "ben", 1, true },
		{ "another approver", CASE_COOKIE, "eve", 1, false },
		{ "nobody", CASE_COOKIE, "", 1, false },
		{ "another browser", "AAECAwQFBgcICQoLDA0ODx", "ben", 1,
			false },
		{ "another elicitation", CASE_COOKIE, "ben", 2, false },
	};
	struct um_exchange page = browser_of(CASE_COOKIE, "ben", 1);
	struct um_exchange sent = browser_of(CASE_COOKIE, "", 1);
	struct um_buf reader = reader_of(&page);

	send_form(&sent, APPROVAL, true, um_buf_str(&reader),
		"comment=Too+much");
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex = browser_of(cases[i].cookie,
			cases[i].user, cases[i].id);
		struct um_buf json = shown(&ex, APPROVAL, true,
			um_buf_str(&sent.kept));

		assert_row(cases[i].name, (json.len != 0) == cases[i].shown);
		um_buf_free(&json);
	}
	for (size_t i = 0; i < sent.kept.len; i++) {
		struct um_buf json;

		sent.kept.ptr[i] = (char)(sent.kept.ptr[i] ^ 1);
		json = shown(&page, APPROVAL, true, um_buf_str(&sent.kept));
		assert_row("one bit", json.len == 0);
		um_buf_free(&json);
		sent.kept.ptr[i] = (char)(sent.kept.ptr[i] ^ 1);
	}
	um_buf_free(&reader);
	um_exchange_free(&sent);
}

TEST(a_reader_belongs_to_its_page)
{
	static const struct {
		const char *name, *cookie;
		uint8_t id;
		bool read;
	} cases[] = {
		{ "the same", CASE_COOKIE, 1, true },
		{ "another browser", "AAECAwQFBgcICQoLDA0ODx", 1, false },
		{ "another elicitation", CASE_COOKIE, 2, false },
	};
	static const char *const others[] = { "", "x", "YWRh",
		"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" };
	struct um_exchange page = browser_of(CASE_COOKIE, "ada", 1);
	struct um_buf reader = reader_of(&page);

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_exchange ex = browser_of(cases[i].cookie, "",
			cases[i].id);
		struct um_buf body = { 0 };

		um_buf_puts(&body, "reader=");
		um_buf_put(&body, reader.ptr, reader.len);
		assert_int_equal(um_form_parse(&ex.form, um_buf_str(&body)),
			UM_REFUSAL_NONE);
		assert_row(cases[i].name,
			um_kept_read_reader(&case_context, &ex)
				== cases[i].read);
		um_buf_free(&body);
		um_exchange_free(&ex);
	}
	for (size_t i = 0; i < LENGTH(others); i++) {
		struct um_exchange ex = browser_of(CASE_COOKIE, "", 1);
		struct um_buf body = { 0 };

		um_buf_cat(&body, "reader=", others[i]);
		assert_int_equal(um_form_parse(&ex.form, um_buf_str(&body)),
			UM_REFUSAL_NONE);
		assert_row(others[i], !um_kept_read_reader(&case_context, &ex));
		um_buf_free(&body);
		um_exchange_free(&ex);
	}
	um_buf_free(&reader);
}

TEST(a_page_without_a_user_has_no_reader)
{
	struct um_exchange page = browser_of(CASE_COOKIE, "", 1);
	struct um_buf reader = reader_of(&page);

	assert_int_equal(reader.len, 0);
	um_buf_free(&reader);
}

/* The last character for which there is room, and the next one. */
TEST(a_cookie_has_room_for_as_much_as_browsers_take)
{
	char typed[UM_KEPT_MAX + 64];

	for (size_t over = 0; over < 2; over++) {
		struct um_exchange page = browser_of(CASE_COOKIE, "ada", 1);
		struct um_exchange sent = browser_of(CASE_COOKIE, "", 1);
		struct um_buf reader = reader_of(&page), json;
		size_t len = UM_KEPT_MAX + over
			- strlen("{\"mail\":\"a\",\"notes\":\"\"}");

		snprintf(typed, sizeof(typed), "field.mail=a&field.notes=%0*d",
			(int)len, 0);
		send_form(&sent, FORM, false, um_buf_str(&reader), typed);
		assert_int_equal(sent.keeps_all, over == 0);
		assert_true(sent.kept.len + strlen(UM_KEPT_COOKIE "=") <= 4096);
		json = shown(&page, FORM, false, um_buf_str(&sent.kept));
		assert_int_equal(json.len,
			over == 0 ? UM_KEPT_MAX : strlen("{\"mail\":\"a\"}"));
		um_buf_free(&json);
		um_buf_free(&reader);
		um_exchange_free(&sent);
	}
}

TEST(it_is_deleted_where_the_browser_has_it)
{
	static const char *const headers[] = { "", "a=b",
		UM_KEPT_COOKIE "=x; a=b" };

	for (size_t i = 0; i < LENGTH(headers); i++) {
		struct um_exchange ex = { .request.cookie = um_str(
						  headers[i]) };

		um_kept_delete(&ex);
		assert_str(um_buf_str(&ex.response.headers),
			i < 2 ? ""
			      : "Set-Cookie: " UM_KEPT_COOKIE
				"=; Path=/form/; Max-Age=0; Secure; HttpOnly; "
				"SameSite=Lax\r\n");
		um_response_free(&ex.response);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_typed_is_there_again_without_secrets),
		cmocka_unit_test(nobody_else_is_shown_it),
		cmocka_unit_test(a_reader_belongs_to_its_page),
		cmocka_unit_test(a_page_without_a_user_has_no_reader),
		cmocka_unit_test(
			a_cookie_has_room_for_as_much_as_browsers_take),
		cmocka_unit_test(it_is_deleted_where_the_browser_has_it),
	};

	return cmocka_run_group_tests(tests, program_case_set_up,
		program_case_tear_down);
}
