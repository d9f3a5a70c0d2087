/* SPDX-License-Identifier: MIT */
/* The page of a form: what stands where, and its one script. */
#include <string.h>

#include <openssl/evp.h>

#include "form/form_page.h"
#include "support.h"

#define FACT(n) "{\"label\":\"L" n "\",\"value\":\"V" n "\"}"
#define FACTS                                                                  \
	"\"facts\":[" FACT("1") "," FACT("2") "," FACT("3") "," FACT("4") "]"
#define FIELD(type, more)                                                      \
	"{\"name\":\"a\",\"type\":\"" type "\",\"label\":\"A\"" more "}"
#define INPUT(field)                                                           \
	"{\"title\":\"T\",\"text\":\"X\",\"fields\":[" field "]," FACTS "}"

static struct um_response response;
static struct um_brand brand;

/* The page of this form; `form` says the rest. */
static struct um_str
page(const char *json, struct um_form_page form)
{
	static const struct um_request request = { 0 };
	struct um_definition definition;
	struct um_schema_fault fault;

	um_response_free(&response);
	response = (struct um_response){ 0 };
	assert_true(um_definition_read(&definition, um_str(json),
		form.is_approval, &fault));
	form.definition = &definition;
	form.requester = STR("Notes <1>");
	form.provider = STR("intake");
	form.state = STR("state");
	um_form_page_put(&response, &request, &brand, &form);
	um_definition_free(&definition);
	assert_false(response.body.failed);
	return um_buf_str(&response.body);
}

static int
tear_down(void **state)
{
	(void)state;
	um_response_free(&response);
	response = (struct um_response){ 0 };
	return 0;
}

/* Each of these texts stands after the one before it. */
static void
assert_order(struct um_str html, const char *const *texts, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		um_str_cut(&html, texts[i]);
		assert_row(texts[i], html.ptr != NULL);
	}
}

/* Who asks is said once, above the server's title. */
TEST(a_form_is_around_the_server_s_own_words)
{
	static const char *const texts[] = { "<p class=\"lead\"><svg",
		"<bdi>Notes &lt;1&gt;</bdi>", "<h1 id=\"what\"", ">T</h1>",
		">X</p>", "<dl>", ">V1</dd>", ">V3</dd>", "</dl>",
		"<details><summary>", ">V4</dd>", "</details>", "<form",
		"id=\"f-a\"", "model never see it.</p>",
		"You are signed in as ", ">ada<", "<div class=\"go\">",
		"value=\"submit\"" };
	const struct um_form_page form = { .acting = { .user = STR("ada"),
						   .is_known = true } };
	struct um_str html = page(INPUT(FIELD("text", "")), form);

	assert_order(html, texts, LENGTH(texts));
	assert_false(str_has(html, STR("class=\"what\"")));
	um_str_cut(&html, "Notes");
	assert_false(str_has(html, STR("Notes")));
}

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define ASIAN "\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00\u4e00"
#define OF(title, text, label)                                                 \
	"{\"title\":\"" title "\",\"text\":\"" text                            \
	".\",\"fields\":[{\"name\":\"a\",\"type\":\"text\",\"label\":\"" label \
	"\"}],\"facts\":[" FACT("1") "," FACT("2") "," FACT("3") "," FACT(     \
		"4") "]}"

/* The rest is closed, so that the first screen of a phone has the field. */
TEST(of_a_form_as_much_is_open_as_a_phone_has_room_for)
{
	static const struct {
		const char *form;
		const char *closed; /* has this first; NULL: nothing is */
	} rows[] = {
		{ "{\"title\":\"T\",\"fields\":[" FIELD("text", "") "]," FACTS
								    "}",
			NULL },
		{ INPUT(FIELD("text", "")), ">V4" },
		{ OF("T", HUNDRED TEN TEN, "A"), ">V2" },
		{ OF("T", HUNDRED HUNDRED, "A"), ">V1" },
		{ OF("T", HUNDRED HUNDRED HUNDRED, "A"), TEN ".<" },
		{ OF("T", "1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9", "A"), "9.<" },
		{ OF("T", ASIAN ASIAN ASIAN ASIAN ASIAN ASIAN, "A"), ">V2" },
		{ OF("T",
			  ASIAN ASIAN ASIAN ASIAN ASIAN ASIAN ASIAN ASIAN ASIAN
				  ASIAN ASIAN ASIAN,
			  "A"),
			ASIAN },
		{ OF(HUNDRED, "X", "A"), ">V1" },
		{ OF(HUNDRED, HUNDRED, "A"), TEN ".<" },
		{ OF("T", HUNDRED TEN TEN, HUNDRED HUNDRED), TEN ".<" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_str html = page(rows[i].form,
			(struct um_form_page){ 0 });
		struct um_str open = um_str_cut(&html, "<details>");

		row_begin("%zu", i);
		assert_int_equal(html.ptr != NULL, rows[i].closed != NULL);
		if (rows[i].closed == NULL)
			continue;
		um_str_cut(&html, "</summary>");
		assert_true(str_has(um_str_cut(&html, "</details>"),
			um_str(rows[i].closed)));
		assert_false(str_has(open, um_str(rows[i].closed)));
	}
}

/* Nobody decides about what is not to be seen, nor far from what it is. */
TEST(all_of_an_approval_is_seen)
{
	static const char *const texts[] = { ">T</h1>", "<dl>", ">For</dt>",
		"<bdi>ada</bdi>", ">V3</dd>", "</dl>",
		"<details open><summary>", ">V4</dd>", "Comment", "boss",
		"<p class=\"what\" lang=\"en\" dir=\"ltr\">T</p>",
		"value=\"approve\" aria-describedby=\"what\">Approve<" };
	const struct um_form_page form = { .is_approval = true,
		.subject = STR("ada"),
		.acting = { .user = STR("boss"), .is_known = true } };

	assert_order(page("{\"title\":\"T\",\"comment\":\"optional\"," FACTS
			  "}",
			     form),
		texts, LENGTH(texts));
	assert_false(
		str_has(um_buf_str(&response.body), STR("continues acts")));
}

/* A link of the sign-in's, or of the site's; otherwise words. */
TEST(a_user_who_is_known_can_be_somebody_else)
{
	struct um_form_page form = { .is_approval = true,
		.acting = { .user = STR("ada"), .is_known = true } };
	static const char json[] = "{\"title\":\"T\"}";

	brand = (struct um_brand){ 0 };
	assert_true(str_has(page(json, form),
		STR("</strong>. If that is not you, sign out where")));
	brand.switch_user = (char[]){ "/out" };
	assert_true(str_has(page(json, form), STR("<a href=\"&#47;out\">")));
	assert_false(str_has(page(json, form), STR("If that is not you")));
	form.acting.other_account = STR("/again");
	assert_true(str_has(page(json, form), STR("<a href=\"&#47;again\">")));
	form.acting.is_known = false;
	form.acting.other_account = STR("");
	assert_false(str_has(page(json, form), STR("<a ")));
	brand = (struct um_brand){ 0 };
}

/* Content Security Policy Level 3 section 2.3.1. */
TEST(the_one_script_is_named_by_its_hash_and_there_is_none_without_a_secret)
{
	static const struct {
		const char *form;
		bool has_script;
	} rows[] = {
		{ INPUT(FIELD("secret", "")), true },
		{ INPUT(FIELD("secret", ",\"multiline\":true")), false },
		{ INPUT(FIELD("text", "")), false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_str html = page(rows[i].form,
			(struct um_form_page){ 0 });
		struct um_str headers = um_buf_str(&response.headers), script;
		uint8_t digest[EVP_MAX_MD_SIZE];
		char base64[64];

		row_begin("%zu", i);
		assert_true(html.len < 9000);
		assert_true(str_has(headers, STR("; form-action 'self'")));
		um_str_cut(&html, "<script>");
		assert_int_equal(html.ptr != NULL, rows[i].has_script);
		assert_int_equal(str_has(headers, STR("script-src")),
			rows[i].has_script);
		if (html.ptr == NULL)
			continue;
		script = um_str_cut(&html, "</script>");
		assert_false(str_has(html, STR("<script")));
		assert_int_equal(EVP_Digest(script.ptr, script.len, digest,
					 NULL, EVP_sha256(), NULL),
			1);
		EVP_EncodeBlock((unsigned char *)base64, digest, 32);
		assert_true(str_has(headers, um_str(base64)));
	}
}

/* A key where a secret is asked for, otherwise a sheet; a seal to decide. */
TEST(the_mark_fits)
{
	static const char *const forms[] = { INPUT(FIELD("secret", "")),
		INPUT(FIELD("secret", ",\"multiline\":true")),
		INPUT(FIELD("text", "")), "{\"title\":\"T\"}" };
	static const enum um_mark marks[] = { UM_MARK_KEY, UM_MARK_KEY,
		UM_MARK_FORM, UM_MARK_SEAL };

	for (size_t i = 0; i < LENGTH(forms); i++)
		assert_row(forms[i],
			str_has(page(forms[i],
					(struct um_form_page){
						.is_approval = i == 3 }),
				um_str(um_layout_mark(marks[i]))));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			a_form_is_around_the_server_s_own_words, tear_down),
		cmocka_unit_test_teardown(
			of_a_form_as_much_is_open_as_a_phone_has_room_for,
			tear_down),
		cmocka_unit_test_teardown(all_of_an_approval_is_seen,
			tear_down),
		cmocka_unit_test_teardown(
			the_one_script_is_named_by_its_hash_and_there_is_none_without_a_secret,
			tear_down),
		cmocka_unit_test_teardown(
			a_user_who_is_known_can_be_somebody_else, tear_down),
		cmocka_unit_test_teardown(the_mark_fits, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
