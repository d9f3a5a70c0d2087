/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <openssl/evp.h>

#include "http/escape.h"
#include "http/page.h"
#include "support.h"

static void
assert_has(const struct um_buf *buf, const char *text)
{
	if (!str_has(um_buf_str(buf), um_str(text)))
		fail_msg("\"%s\" is not in: %.*s", text, (int)buf->len,
			buf->ptr);
}

/* What stands between two texts, from `from` on. */
static struct um_str
between(const struct um_buf *buf, const char *before, const char *after)
{
	const char *begin = memmem(buf->ptr, buf->len, before, strlen(before));
	const char *end;

	assert_non_null(begin);
	begin += strlen(before);
	end = memmem(begin, buf->len - (size_t)(begin - buf->ptr), after,
		strlen(after));
	assert_non_null(end);
	return (struct um_str){ begin, (size_t)(end - begin) };
}

/* Content Security Policy Level 3 section 2.3.1: the hash of what is inline. */
static void
assert_hash(const struct um_response *response, const char *directive,
	const char *open_tag, const char *close_tag)
{
	struct um_str text = between(&response->body, open_tag, close_tag);
	uint8_t digest[EVP_MAX_MD_SIZE];
	struct um_buf expected = { 0 };
	char base64[64];

	assert_int_equal(EVP_Digest(text.ptr, text.len, digest, NULL,
				 EVP_sha256(), NULL),
		1);
	EVP_EncodeBlock((unsigned char *)base64, digest, 32);
	um_buf_printf(&expected, "%s 'sha256-%s'", directive, base64);
	um_buf_put(&expected, "", 1);
	assert_has(&response->headers, expected.ptr);
	um_buf_free(&expected);
}

/* What every page has, whatever is on it. */
static void
assert_page(const struct um_response *response)
{
	static const char *const never[] = { "<script src", "<link", "<img",
		"<iframe", " onclick", " style=", "javascript:", "http://",
		"https://", "<base" };

	assert_false(response->headers.failed);
	assert_false(response->body.failed);
	assert_memory_equal(response->body.ptr, "<!doctype html>\n", 16);
	assert_has(&response->headers,
		"Content-Security-Policy: default-src 'none'; ");
	assert_has(&response->headers, "frame-ancestors 'none'");
	assert_has(&response->headers, "base-uri 'none'");
	assert_false(str_has(um_buf_str(&response->headers), STR("unsafe")));
	assert_hash(response, "style-src", "<style>", "</style>");
	for (size_t i = 0; i < LENGTH(never); i++)
		assert_row(never[i],
			!str_has(um_buf_str(&response->body),
				um_str(never[i])));
}

TEST(each_final_page_has_its_title)
{
	static const struct {
		enum um_final_page final;
		const char *code;
		const char *title;
	} cases[] = {
		{ UM_FINAL_PAGE_DONE, "done", "All done" },
		{ UM_FINAL_PAGE_DECLINED, "declined", "Declined" },
		{ UM_FINAL_PAGE_FAILED, "failed", "That did not work" },
		{ UM_FINAL_PAGE_MISMATCH, "mismatch",
			"The amount does not match" },
		{ UM_FINAL_PAGE_PROCESSING, "processing", "Still processing" },
		{ UM_FINAL_PAGE_ALREADY, "already", "Already done" },
		{ UM_FINAL_PAGE_LATE, "late", "Your payment has arrived" },
		{ UM_FINAL_PAGE_EXPIRED, "expired",
			"This request has expired" },
	};

	assert_int_equal(LENGTH(cases), UM_FINAL_PAGE_COUNT);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_response response = { 0 };
		struct um_str title;

		row_begin("%s", cases[i].code);
		assert_string_equal(um_final_page_code(cases[i].final),
			cases[i].code);
		um_page_final(&response, cases[i].final);
		assert_int_equal(response.status, 200);
		assert_page(&response);
		assert_has(&response.headers, "form-action 'none'");
		title = between(&response.body, "<title>", "</title>");
		assert_str(title, cases[i].title);
		title = between(&response.body, "<h1>", "</h1>");
		assert_str(title, cases[i].title);
		um_response_free(&response);
	}
}

TEST(the_final_page_follows_from_action_and_reason)
{
	static const struct {
		const char *action;
		const char *reason;
		bool late;
		enum um_final_page final;
	} cases[] = {
		{ "accept", "", false, UM_FINAL_PAGE_DONE },
		{ "decline", "access_denied", false, UM_FINAL_PAGE_DECLINED },
		{ "cancel", "provider_error", false, UM_FINAL_PAGE_FAILED },
		{ "cancel", "expired", false, UM_FINAL_PAGE_EXPIRED },
		{ "cancel", "amount_mismatch", false, UM_FINAL_PAGE_MISMATCH },
		{ "cancel", "", false, UM_FINAL_PAGE_FAILED },
		{ "cancel", NULL, false, UM_FINAL_PAGE_FAILED },
		{ NULL, NULL, false, UM_FINAL_PAGE_FAILED },
		{ "cancel", "expired", true, UM_FINAL_PAGE_LATE },
		{ "cancel", "amount_mismatch", true, UM_FINAL_PAGE_LATE },
		{ "decline", "cancelled", true, UM_FINAL_PAGE_LATE },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		row_begin("%zu, %s", i, um_final_page_code(cases[i].final));
		assert_int_equal(um_final_page_of(cases[i].action,
					 cases[i].reason, cases[i].late),
			cases[i].final);
	}
}

TEST(the_redirect_to_done_has_a_clean_address)
{
	struct um_response response = { 0 };

	um_page_redirect_to_done(&response, UM_FINAL_PAGE_DECLINED);
	assert_int_equal(response.status, 303);
	assert_str(um_buf_str(&response.headers),
		"Set-Cookie: __Host-urlmode-done=declined; Path=/; Max-Age=60; "
		"Secure; HttpOnly; SameSite=Lax\r\nLocation: /done\r\n");
	assert_int_equal(response.body.len, 0);
	um_response_free(&response);
}

/* The first paragraph says exactly this. */
static void
assert_advice(const struct um_response *response, const char *advice)
{
	struct um_buf expected = { 0 };

	um_escape_html_text(&expected, um_str(advice));
	um_buf_put(&expected, "", 1);
	assert_str(between(&response->body, "<p>", "</p>"), expected.ptr);
	um_buf_free(&expected);
}

/* Each refusal shows its status, code and advice, and the request's id. */
TEST(each_refusal_has_its_page)
{
	static const enum um_refusal refusals[] = {
#define X(name, status, code, advice) UM_REFUSAL_##name,
		UM_REFUSALS(X)
#undef X
	};
	const struct um_request request = {
		.id = "0123456789abcdef0123456789abcdef",
		.path = STR("/<path>"),
		.query = STR("state=<asked>"),
	};

	for (size_t i = 0; i < LENGTH(refusals); i++) {
		struct um_response response = { 0 };

		row_begin("%s", um_refusal_code(refusals[i]));
		um_page_refusal(&response, &request, refusals[i]);
		assert_int_equal(response.status,
			um_refusal_status(refusals[i]));
		assert_page(&response);
		assert_has(&response.headers, "form-action 'none'");
		assert_str(between(&response.body, "Reason: <code>", "</code>"),
			um_refusal_shown_code(refusals[i]));
		assert_str(between(&response.body, "Request: <code>",
				   "</code>"),
			request.id);
		assert_advice(&response, um_refusal_advice(refusals[i]));
		assert_false(str_has(um_buf_str(&response.body), STR("path")));
		assert_false(str_has(um_buf_str(&response.body), STR("asked")));
		um_response_free(&response);
	}
}

TEST(the_confirm_page_shows_who_asks_for_whom)
{
	const struct um_confirm confirm = {
		.requester = STR("Notes server"),
		.subject = STR("zo\xc3\xab@example.com"),
		.provider = STR("demo"),
		.display_name = STR("Demo Account"),
		.state = STR("AQ_-state"),
	};
	struct um_response response = { 0 };

	um_page_confirm(&response, &confirm);
	assert_int_equal(response.status, 200);
	assert_page(&response);
	assert_has(&response.body,
		"<dt>Requested by</dt><dd>Notes server</dd>");
	assert_has(&response.body,
		"<dt>For</dt><dd>zo\xc3\xab@example.com</dd>");
	assert_has(&response.body, "<dt>Destination</dt><dd>Demo Account</dd>");
	assert_has(&response.body,
		"<form method=\"post\" action=\"/connect/demo\">\n"
		"<input type=\"hidden\" name=\"state\" value=\"AQ_-state\">\n"
		"<button name=\"answer\" value=\"continue\">Continue</button>\n"
		"<button name=\"answer\" value=\"refuse\">Decline</button>\n"
		"</form>");
	um_response_free(&response);
}

/* Each text in turn is an attack: none of its characters stays as it is. */
TEST(the_confirm_page_escapes_every_text)
{
	static const char attack[] = "\"'><script>alert(1)</script>&\n";
	/* The provider and the state stand in attributes. */
	static const bool is_attr[5] = { [2] = true, [4] = true };

	for (int place = 0; place < 5; place++) {
		struct um_str texts[5] = { STR("a"), STR("b"), STR("c"),
			STR("d"), STR("e") };
		struct um_response response = { 0 };

		texts[place] = um_str(attack);
		um_page_confirm(&response,
			&(struct um_confirm){ texts[0], texts[1], texts[2],
				texts[3], texts[4] });
		assert_page(&response);
		assert_false(
			str_has(um_buf_str(&response.body), STR("<script>")));
		assert_has(&response.body,
			is_attr[place] ? "&quot;&#39;&gt;&lt;script&gt;alert"
					 "&#40;1&#41;&lt;&#47;script&gt;&amp;"
					 "&#10;\""
				       : "&quot;&#39;&gt;&lt;script&gt;alert(1)"
					 "&lt;/script&gt;&amp;\n");
		um_response_free(&response);
	}
}

TEST(the_page_that_waits_for_a_payment)
{
	struct um_response response = { 0 };

	um_page_follow(&response, false);
	assert_int_equal(response.status, 200);
	assert_page(&response);
	assert_hash(&response, "script-src", "<script>", "</script>");
	assert_has(&response.headers, "connect-src 'self'");
	assert_has(&response.body,
		"<noscript><meta http-equiv=\"refresh\" "
		"content=\"5\"></noscript>");
	um_response_free(&response);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_final_page_has_its_title),
		cmocka_unit_test(the_final_page_follows_from_action_and_reason),
		cmocka_unit_test(the_redirect_to_done_has_a_clean_address),
		cmocka_unit_test(each_refusal_has_its_page),
		cmocka_unit_test(the_confirm_page_shows_who_asks_for_whom),
		cmocka_unit_test(the_confirm_page_escapes_every_text),
		cmocka_unit_test(the_page_that_waits_for_a_payment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
