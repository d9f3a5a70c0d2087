/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <openssl/evp.h>

#include "http/escape.h"
#include "http/page.h"
#include "http/text.h"
#include "support.h"

#define PAGE_MAX 9000 /* bytes of a page */

/* A request that says nothing of its user. */
static const struct um_request nobody = { 0 };

static const char *
get_languages(const char *name, void *arg)
{
	const enum um_language *language = arg;

	return strcmp(name, "HTTP_ACCEPT_LANGUAGE") == 0
		? um_language_code(*language)
		: NULL;
}

/* A request that asks for a language. */
static struct um_request
request_in(enum um_language *language)
{
	return (struct um_request){
		.id = "0123456789abcdef0123456789abcdef",
		.get = get_languages,
		.get_arg = language,
	};
}

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
	assert_true(response->body.len < PAGE_MAX);
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
		{ UM_FINAL_PAGE_RETURNED, "returned", "You can go back" },
		{ UM_FINAL_PAGE_CONNECTED, "connected",
			"The account is connected" },
		{ UM_FINAL_PAGE_NOT_CONNECTED, "not_connected",
			"The account is not connected" },
		{ UM_FINAL_PAGE_DECLINED, "declined", "Declined" },
		{ UM_FINAL_PAGE_FAILED, "failed", "That did not work" },
		{ UM_FINAL_PAGE_MISMATCH, "mismatch",
			"The amount does not match" },
		{ UM_FINAL_PAGE_PROCESSING, "processing", "Still processing" },
		{ UM_FINAL_PAGE_CONFIRMING, "confirming",
			"You can close this page" },
		{ UM_FINAL_PAGE_REQUESTED, "requested",
			"Somebody else has to agree" },
		{ UM_FINAL_PAGE_CONSENTED, "consented",
			"Your organization has agreed" },
		{ UM_FINAL_PAGE_ALREADY, "already", "Already done" },
		{ UM_FINAL_PAGE_ENDED, "ended", "This request has ended" },
		{ UM_FINAL_PAGE_LATE, "late", "Your payment has arrived" },
		{ UM_FINAL_PAGE_EXPIRED, "expired",
			"This request has expired" },
		{ UM_FINAL_PAGE_REFUSED, "refused", "That did not work" },
		{ UM_FINAL_PAGE_RECORDED, "recorded", "All done" },
		{ UM_FINAL_PAGE_FORM_DECLINED, "form_declined", "Declined" },
		{ UM_FINAL_PAGE_FORM_ENDED, "form_ended",
			"This request has ended" },
	};

	assert_int_equal(LENGTH(cases), UM_FINAL_PAGE_COUNT);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_response response = { 0 };
		struct um_str title;

		row_begin("%s", cases[i].code);
		assert_string_equal(um_final_page_code(cases[i].final),
			cases[i].code);
		um_page_final(&response, &nobody, NULL, cases[i].final,
			um_str(NULL));
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

/* The heading, the title and the first paragraph are these texts. */
static void
assert_texts(const struct um_response *response, enum um_language language,
	enum um_text title, enum um_text text)
{
	struct um_buf expected = { 0 };

	um_text_put(&expected, language, title, NULL, "", "");
	um_buf_put(&expected, "", 1);
	assert_str(between(&response->body, "<title>", "</title>"),
		expected.ptr);
	assert_str(between(&response->body, "<h1>", "</h1>"), expected.ptr);
	um_buf_clear(&expected);
	um_text_put(&expected, language, text,
		(const struct um_text_value[]){ { "seconds", STR("3") },
			{ 0 } },
		"", "");
	um_buf_put(&expected, "", 1);
	assert_str(between(&response->body, "<p>", "</p>"), expected.ptr);
	um_buf_free(&expected);
}

/* Each refusal shows its status, code and advice, and the request's id. */
TEST(each_refusal_has_its_page)
{
	static const struct {
		enum um_refusal refusal;
		enum um_text title, text;
	} cases[] = {
#define X(name, status, code, page, advice)                                    \
	{ UM_REFUSAL_##name, UM_TEXT_##page##_TITLE, UM_TEXT_##page },
		UM_REFUSALS(X)
#undef X
	};
	const struct um_request request = {
		.id = "0123456789abcdef0123456789abcdef",
		.path = STR("/<wanted>"),
		.query = STR("state=<asked>"),
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_response response = { 0 };

		row_begin("%s", um_refusal_code(cases[i].refusal));
		um_page_refusal(&response, &request, NULL, cases[i].refusal,
			NULL);
		assert_int_equal(response.status,
			um_refusal_status(cases[i].refusal));
		assert_page(&response);
		assert_has(&response.headers, "form-action 'none'");
		assert_str(between(&response.body, "Reason: <code>", "</code>"),
			um_refusal_shown_code(cases[i].refusal));
		assert_str(between(&response.body, "Request: <code>",
				   "</code>"),
			request.id);
		assert_texts(&response, UM_LANGUAGE_EN, cases[i].title,
			cases[i].text);
		assert_false(
			str_has(um_buf_str(&response.body), STR("wanted")));
		assert_false(str_has(um_buf_str(&response.body), STR("asked")));
		um_response_free(&response);
	}
}

/* Who fills in a form has paid nothing, and an approver has started nothing. */
TEST(some_refusals_have_other_words_for_who_has_a_form)
{
	static const struct {
		enum um_refusal refusal;
		enum um_method method;
		enum um_reader reader;
		enum um_text title, text;
	} cases[] = {
		{ UM_REFUSAL_EXPIRED, UM_GET, UM_READER_OF_FORM,
			UM_TEXT_EXPIRED_TITLE, UM_TEXT_FORM_ENDED },
		{ UM_REFUSAL_EXPIRED, UM_GET, UM_READER_ANYBODY,
			UM_TEXT_EXPIRED_TITLE, UM_TEXT_EXPIRED },
		{ UM_REFUSAL_STATE_EXPIRED, UM_POST, UM_READER_OF_APPROVAL,
			UM_TEXT_LINK_EXPIRED_TITLE, UM_TEXT_FORM_ENDED },
		/* It may have been answered before. */
		{ UM_REFUSAL_STATE_EXPIRED, UM_GET, UM_READER_OF_APPROVAL,
			UM_TEXT_LINK_EXPIRED_TITLE, UM_TEXT_LINK_EXPIRED },
		{ UM_REFUSAL_UNKNOWN_ELICITATION, UM_POST, UM_READER_OF_FORM,
			UM_TEXT_REQUEST_UNKNOWN_TITLE, UM_TEXT_LINK_EXPIRED },
		{ UM_REFUSAL_WRONG_BROWSER, UM_GET, UM_READER_OF_FORM,
			UM_TEXT_FORM_BROWSER_TITLE, UM_TEXT_FORM_BROWSER },
		{ UM_REFUSAL_WRONG_USER, UM_GET, UM_READER_OF_FORM,
			UM_TEXT_WRONG_USER_TITLE, UM_TEXT_WRONG_USER },
		{ UM_REFUSAL_WRONG_USER, UM_GET, UM_READER_OF_APPROVAL,
			UM_TEXT_OWN_REQUEST_TITLE, UM_TEXT_WRONG_APPROVER },
		{ UM_REFUSAL_ANSWER_INVALID, UM_POST, UM_READER_OF_APPROVAL,
			UM_TEXT_ANSWER_INVALID_TITLE, UM_TEXT_ANSWER_INVALID },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const struct um_request request = { .method = cases[i].method,
			.id = "0123456789abcdef0123456789abcdef" };
		const struct um_way_on way = { .reader = cases[i].reader };
		struct um_response response = { 0 };

		row_begin("%zu, %s", i, um_refusal_code(cases[i].refusal));
		um_page_refusal(&response, &request, NULL, cases[i].refusal,
			&way);
		assert_texts(&response, UM_LANGUAGE_EN, cases[i].title,
			cases[i].text);
		um_response_free(&response);
	}
}

/* An approver, and whoever opens a page without anything before it. */
TEST(no_page_of_an_approver_speaks_of_where_something_was_started)
{
	static const enum um_text texts[] = { UM_TEXT_RECORDED,
		UM_TEXT_FORM_DECLINED, UM_TEXT_FORM_ENDED, UM_TEXT_RETURNED,
		UM_TEXT_ALREADY, UM_TEXT_DECIDED_APPROVED,
		UM_TEXT_DECIDED_DECLINED, UM_TEXT_CHECKING,
		UM_TEXT_LINK_EXPIRED, UM_TEXT_FORM_BROWSER,
		UM_TEXT_WRONG_APPROVER, UM_TEXT_OWN_REQUEST, UM_TEXT_SIGN_IN,
		UM_TEXT_SIGN_IN_FAILED, UM_TEXT_ANSWER_INVALID,
		UM_TEXT_NOT_STORED, UM_TEXT_BUSY, UM_TEXT_TOO_LARGE,
		UM_TEXT_LINK_INVALID, UM_TEXT_NOT_FOUND, UM_TEXT_NOT_ACCEPTED,
		UM_TEXT_DENIED, UM_TEXT_ERROR };

	for (size_t i = 0; i < LENGTH(texts); i++) {
		struct um_str text = um_str(um_text(UM_LANGUAGE_EN, texts[i]));

		row_begin("%s", text.ptr);
		assert_false(str_has(text, STR("started")));
		assert_false(str_has(text, STR("paid")));
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

	um_page_confirm(&response, &nobody, NULL, &confirm);
	assert_int_equal(response.status, 200);
	assert_page(&response);
	assert_has(&response.body,
		"<span><strong><bdi>Notes server</bdi></strong> wants to "
		"connect your account at <strong><bdi>Demo Account</bdi>"
		"</strong>.</span></p>\n<h1>Do you want to continue?</h1>\n");
	assert_has(&response.body,
		"Nobody has signed in here: whoever continues acts as "
		"<strong><bdi>zo\xc3\xab@example.com</bdi></strong>.</p>");
	assert_has(&response.body,
		"<form method=\"post\" action=\"/connect/demo\">\n"
		"<input type=\"hidden\" name=\"state\" value=\"AQ_-state\">\n"
		"<div class=\"go\">\n"
		"<button name=\"answer\" value=\"continue\">Continue</button>\n"
		"<button name=\"answer\" value=\"refuse\">Decline</button>\n"
		"</div>\n</form>");
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
		um_page_confirm(&response, &nobody, NULL,
			&(struct um_confirm){ .requester = texts[0],
				.subject = texts[1],
				.provider = texts[2],
				.display_name = texts[3],
				.state = texts[4] });
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

	um_page_follow(&response, &nobody, NULL, false);
	assert_int_equal(response.status, 200);
	assert_page(&response);
	assert_hash(&response, "script-src", "<script>", "</script>");
	assert_has(&response.headers, "connect-src 'self'");
	assert_has(&response.body,
		"<noscript><meta http-equiv=\"refresh\" "
		"content=\"5\"></noscript>");
	um_response_free(&response);
}

TEST(the_page_that_waits_for_a_check)
{
	struct um_response response = { 0 };

	um_page_checking(&response, &nobody, NULL);
	assert_page(&response);
	assert_hash(&response, "script-src", "<script>", "</script>");
	assert_has(&response.body, "is checking what you sent");
	um_response_free(&response);
}

/* Where the web server or the application signs users in, the site says how. */
TEST(a_wrong_user_has_the_way_to_be_somebody_else_that_the_site_knows)
{
	static const struct {
		enum um_refusal refusal;
		bool has_link;
	} rows[] = { { UM_REFUSAL_WRONG_USER, true },
		{ UM_REFUSAL_OWN_REQUEST, true },
		{ UM_REFUSAL_EXPIRED, false } };
	const struct um_brand brand = { .switch_user = (char[]){ "/out" } };
	const struct um_request request = {
		.id = "0123456789abcdef0123456789abcdef"
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct um_way_on way = {
			.acting = { .user = STR("<eve>"),
				.is_known = rows[i].has_link }
		};
		struct um_response response = { 0 };

		um_page_refusal(&response, &request, &brand, rows[i].refusal,
			&way);
		assert_row(um_refusal_code(rows[i].refusal),
			str_has(um_buf_str(&response.body),
				STR("You are signed in as <strong><bdi>&lt;eve"
				    "&gt;</bdi></strong>. "
				    "<a href=\"&#47;out\">Sign in as "
				    "somebody else</a>"))
				== rows[i].has_link);
		um_response_free(&response);
	}
}

/* Each page in each language says which it is. */
TEST(each_page_is_in_the_language_that_is_asked_for)
{
	for (int l = 0; l < UM_LANGUAGE_COUNT; l++) {
		enum um_language language = (enum um_language)l;
		struct um_request request = request_in(&language);
		struct um_buf html = { 0 };

		row_begin("%s", um_language_code(language));
		um_buf_cat(&html, "<html lang=\"",
			um_text(language, UM_TEXT_LANG), "\" dir=\"",
			um_text(language, UM_TEXT_DIR), "\">");
		um_buf_put(&html, "", 1);
		for (int i = 0; i < 4; i++) {
			static const enum um_text titles[] = {
				UM_TEXT_LATE_TITLE, UM_TEXT_BUSY_TITLE,
				UM_TEXT_WAITING_TITLE,
				UM_TEXT_WRONG_BROWSER_TITLE
			};
			static const enum um_text texts[] = { UM_TEXT_LATE,
				UM_TEXT_BUSY, UM_TEXT_WAITING,
				UM_TEXT_WRONG_BROWSER };
			struct um_response response = { 0 };

			if (i == 0)
				um_page_final(&response, &request, NULL,
					UM_FINAL_PAGE_LATE, um_str(NULL));
			else if (i == 2)
				um_page_follow(&response, &request, NULL, true);
			else
				um_page_refusal(&response, &request, NULL,
					i == 1 ? UM_REFUSAL_UNAVAILABLE
					       : UM_REFUSAL_WRONG_BROWSER,
					NULL);
			assert_page(&response);
			assert_has(&response.body, html.ptr);
			assert_texts(&response, language, titles[i], texts[i]);
			um_response_free(&response);
		}
		um_buf_free(&html);
	}
}

/* What is asked for: each kind in its words, and the amount in the user's. */
TEST(the_confirm_page_says_what_is_asked_for)
{
	static const struct {
		enum um_confirm_what what;
		enum um_language language;
		const char *has;
	} cases[] = {
		{ UM_CONFIRM_ACCOUNT, UM_LANGUAGE_EN,
			"</bdi></strong> wants to connect your account at "
			"<strong><bdi>Shop</bdi></strong>.</span></p>\n" },
		{ UM_CONFIRM_SIGNATURE, UM_LANGUAGE_EN,
			"you read what you sign before" },
		{ UM_CONFIRM_PAYMENT, UM_LANGUAGE_EN,
			"<dt>Amount</dt><dd class=\"total\">"
			"<bdi>EUR\xc2\xa0"
			"1,234.50</bdi></dd>" },
		{ UM_CONFIRM_PAYMENT, UM_LANGUAGE_DE,
			"<dt>Betrag</dt><dd class=\"total\">"
			"<bdi>1.234,50\xc2\xa0"
			"EUR</bdi></dd>" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		enum um_language language = cases[i].language;
		struct um_request request = request_in(&language);
		struct um_response response = { 0 };

		row_begin("%zu", i);
		um_page_confirm(&response, &request, NULL,
			&(struct um_confirm){ .what = cases[i].what,
				.requester = STR("Notes"),
				.display_name = STR("Shop"),
				.amount = STR("1234.50"),
				.currency = STR("EUR") });
		assert_page(&response);
		assert_has(&response.body, cases[i].has);
		um_response_free(&response);
	}
}

/* A site's own name, logo, colours and way back; all of it is escaped. */
TEST(the_pages_of_a_brand)
{
	struct um_brand brand = {
		.name = (char[]){ "Smith & <Sons>" },
		.style = (char[]){ ":root{--accent:#123456}" },
		.style_hash = (char[]){ "sha256-AAAA" },
		.return_to = (char[]){ "vscode://smith.app/?a=1&b=2" },
	};
	const struct um_brand pictured = { .name = brand.name,
		.logo_url = (char[]){ "/logo.png" } };
	const struct um_brand nameless = { .return_to = brand.return_to };
	struct um_response response = { 0 };

	um_page_final(&response, &nobody, &brand, UM_FINAL_PAGE_DONE,
		um_str(NULL));
	assert_has(&response.headers, " 'sha256-AAAA'; frame-ancestors");
	assert_has(&response.body,
		"<title>All done \xe2\x80\x93 Smith &amp; "
		"&lt;Sons&gt;</title>");
	assert_has(&response.body, "<style>:root{--accent:#123456}</style>\n");
	assert_has(&response.body, "<header>Smith &amp; &lt;Sons&gt;</header>");
	assert_has(&response.body,
		"<a href=\"vscode&#58;&#47;&#47;smith.app&#47;&#63;a&#61;1&amp;"
		"b&#61;2\">Back to <bdi>Smith &amp; &lt;Sons&gt;</bdi></a>");
	um_response_free(&response);

	um_page_final(&response, &nobody, &pictured, UM_FINAL_PAGE_DONE,
		um_str(NULL));
	assert_has(&response.headers, "; img-src 'self'; ");
	assert_has(&response.body,
		"<img src=\"&#47;logo.png\" "
		"alt=\"Smith&#32;&amp;&#32;&lt;Sons&gt;\">");
	um_response_free(&response);

	um_page_refusal(&response, &nobody, &nameless, UM_REFUSAL_STATE_INVALID,
		NULL);
	assert_page(&response);
	assert_false(str_has(um_buf_str(&response.body), STR("<a ")));
	um_response_free(&response);
	um_page_final(&response, &nobody, &nameless, UM_FINAL_PAGE_DONE,
		um_str(NULL));
	assert_has(&response.body, ">Back to the application</a>");
	um_response_free(&response);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_final_page_has_its_title),
		cmocka_unit_test(each_refusal_has_its_page),
		cmocka_unit_test(
			a_wrong_user_has_the_way_to_be_somebody_else_that_the_site_knows),
		cmocka_unit_test(
			some_refusals_have_other_words_for_who_has_a_form),
		cmocka_unit_test(
			no_page_of_an_approver_speaks_of_where_something_was_started),
		cmocka_unit_test(the_confirm_page_shows_who_asks_for_whom),
		cmocka_unit_test(the_confirm_page_escapes_every_text),
		cmocka_unit_test(the_page_that_waits_for_a_payment),
		cmocka_unit_test(the_page_that_waits_for_a_check),
		cmocka_unit_test(
			each_page_is_in_the_language_that_is_asked_for),
		cmocka_unit_test(the_confirm_page_says_what_is_asked_for),
		cmocka_unit_test(the_pages_of_a_brand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
