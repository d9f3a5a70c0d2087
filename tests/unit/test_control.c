/* SPDX-License-Identifier: MIT */
/* One field on the page of a form. */
#include <stdlib.h>
#include <string.h>

#include "form/control.h"
#include "support.h"

static const char fields[] =
	"{\"title\":\"T\",\"fields\":["
	"{\"name\":\"key\",\"type\":\"secret\",\"label\":\"Key <1>\","
	"\"help\":\"Under A & B\",\"required\":true,"
	"\"link\":{\"url\":\"https://a.example/?a=1&b=2\",\"label\":\"Get\"}},"
	"{\"name\":\"pem\",\"type\":\"secret\",\"multiline\":true,"
	"\"label\":\"P\"},"
	"{\"name\":\"login\",\"type\":\"secret\",\"save\":true,"
	"\"label\":\"P\"},"
	"{\"name\":\"mail\",\"type\":\"email\",\"label\":\"M\"},"
	"{\"name\":\"site\",\"type\":\"url\",\"label\":\"S\"},"
	"{\"name\":\"count\",\"type\":\"number\",\"label\":\"N\","
	"\"default\":3},"
	"{\"name\":\"notes\",\"type\":\"multiline\",\"label\":\"L\","
	"\"default\":\"x <y>\"},"
	"{\"name\":\"region\",\"type\":\"choice\",\"label\":\"R\",\"choices\":"
	"[{\"value\":\"eu\",\"label\":\"Europe\"},"
	"{\"value\":\"a&b\",\"label\":\"A & B\"}],\"default\":\"a&b\"},"
	"{\"name\":\"terms\",\"type\":\"checkbox\",\"label\":\"I agree\","
	"\"default\":true},"
	"{\"name\":\"who\",\"type\":\"text\",\"label\":{\"de\":\"Wer\"},"
	"\"min\":2,\"max\":4},"
	"{\"name\":\"code\",\"type\":\"text\",\"label\":\"C\","
	"\"format\":\"digits\"}]}";

static struct um_definition definition;
static struct um_answers answers;
static struct um_json_node *problem;
static struct um_buf html;
static struct um_controls controls;

static int
set_up(void **state)
{
	struct um_schema_fault fault;

	(void)state;
	controls = (struct um_controls){ .page = { .body = &html,
						 .language = UM_LANGUAGE_EN },
		.definition = &definition };
	return um_definition_read(&definition, um_str(fields), false, &fault)
		? 0
		: -1;
}

static int
tear_down(void **state)
{
	(void)state;
	um_definition_free(&definition);
	um_buf_free(&html);
	free(problem);
	problem = NULL;
	answers = (struct um_answers){ 0 };
	return 0;
}

static const struct um_input *
input_of(const char *name)
{
	const struct um_input *input = um_definition_input(&definition,
		um_str(name));

	assert_non_null(input);
	return input;
}

/* What the field with this name is on the page. */
static struct um_str
put(const char *name)
{
	um_buf_clear(&html);
	um_control_put(&controls, input_of(name));
	assert_false(html.failed);
	return um_buf_str(&html);
}

static struct um_answered *
sent(const char *name, const char *value)
{
	struct um_answered *at =
		&answers.input[input_of(name) - definition.input];

	controls.answers = &answers;
	at->value = um_str(value);
	return at;
}

TEST(each_type_has_its_element)
{
	static const struct {
		const char *name;
		const char *element;
	} rows[] = {
		{ "key",
			"<input type=\"password\" autocomplete=\"off\" "
			"autocapitalize=\"none\" spellcheck=\"false\" "
			"data-1p-ignore data-bwignore data-lpignore=\"true\" "
			"id=\"f-key\" name=\"field.key\" "
			"aria-describedby=\"h-key\" required>" },
		{ "pem",
			"<textarea rows=\"5\" dir=\"auto\" "
			"autocomplete=\"off\" autocapitalize=\"none\" "
			"spellcheck=\"false\" data-1p-ignore data-bwignore "
			"data-lpignore=\"true\" id=\"f-pem\" "
			"name=\"field.pem\">\n</textarea>" },
		{ "login",
			"<input type=\"password\" "
			"autocomplete=\"current-password\" "
			"autocapitalize=\"none\" spellcheck=\"false\" "
			"id=\"f-login\"" },
		{ "mail",
			"<input type=\"email\" inputmode=\"email\" "
			"autocomplete=\"email\" id=\"f-mail\" "
			"name=\"field.mail\" value=\"\">" },
		{ "site",
			"<input type=\"url\" inputmode=\"url\" "
			"autocomplete=\"url\" id=\"f-site\"" },
		{ "count",
			"<input type=\"number\" inputmode=\"decimal\" "
			"step=\"any\" autocomplete=\"off\" id=\"f-count\" "
			"name=\"field.count\" value=\"3\">" },
		{ "notes", ">\nx &lt;y&gt;</textarea>" },
		{ "region",
			"<option value=\"eu\">Europe</option>\n"
			"<option value=\"a&amp;b\" selected>A &amp; B" },
		{ "terms",
			"<input type=\"checkbox\" value=\"on\" id=\"f-terms\" "
			"name=\"field.terms\" checked>" },
		{ "who",
			"<input type=\"text\" dir=\"auto\" "
			"autocomplete=\"off\" id=\"f-who\"" },
		{ "code",
			"id=\"f-code\" name=\"field.code\" "
			"inputmode=\"numeric\" value=\"\">" },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		assert_row(rows[i].name,
			str_has(put(rows[i].name), um_str(rows[i].element)));
}

TEST(a_field_has_its_label_its_help_and_its_link)
{
	const struct um_str key = put("key");

	assert_true(str_has(key,
		STR("<label for=\"f-key\" id=\"l-key\">"
		    "<span lang=\"en\" dir=\"ltr\">"
		    "Key &lt;1&gt;</span></label>\n"
		    "<span class=\"secret\"><input ")));
	assert_true(str_has(key,
		STR("<button type=\"button\" hidden "
		    "aria-describedby=\"l-key\" value=\"Hide\">Show</button>"
		    "</span>\n<span class=\"help\"")));
	assert_true(str_has(key,
		STR("id=\"h-key\"><span lang=\"en\" dir=\"ltr\">"
		    "Under A &amp; B</span>")));
	assert_true(str_has(key,
		STR("rel=\"noopener noreferrer\" "
		    "href=\"https&#58;&#47;&#47;a.example&#47;&#63;a&#61;1&amp;"
		    "b&#61;2\">")));
	assert_false(str_has(key, STR("<small>")));
	assert_false(str_has(put("pem"), STR("<button")));
	assert_true(str_has(put("mail"), STR("<small>")));
	assert_true(str_has(put("terms"),
		STR("<label for=\"f-terms\" class=\"tick\"><input ")));
	assert_true(str_has(put("who"), STR("<span lang=\"de\" dir=\"ltr\">")));
}

TEST(a_field_shows_what_was_sent_but_never_a_secret)
{
	sent("key", "S3cr3t");
	sent("pem", "S3cr3t\nS3cr3t");
	sent("mail", "zoe@example.com");
	sent("region", "eu");
	sent("terms", "");
	assert_false(str_has(put("key"), STR("S3cr3t")));
	assert_false(str_has(put("pem"), STR("S3cr3t")));
	assert_true(
		str_has(put("mail"), STR(" value=\"zoe&#64;example.com\">")));
	assert_true(str_has(put("region"), STR("\"eu\" selected>")));
	assert_false(str_has(put("region"), STR("b\" selected>")));
	assert_false(str_has(put("terms"), STR(" checked")));
}

TEST(a_mistake_is_beside_its_field_and_the_first_has_the_focus)
{
	sent("who", "x")->mistake = UM_MISTAKE_TOO_SHORT;
	sent("mail", "x")->mistake = UM_MISTAKE_EMAIL;
	assert_true(str_has(put("who"),
		STR("aria-describedby=\"e-who\" aria-invalid=\"true\" "
		    "autofocus value=\"x\">")));
	assert_true(str_has(um_buf_str(&html),
		STR("<span class=\"wrong\" id=\"e-who\">"
		    "This needs at least 2 characters.</span>")));
	assert_true(str_has(put("mail"), STR("id=\"e-mail\"")));
	assert_false(str_has(um_buf_str(&html), STR("autofocus")));
	assert_false(str_has(put("site"), STR("aria-invalid")));
}

TEST(a_problem_is_beside_its_field)
{
	controls.problem = problem = um_json_parse(
		STR("{\"field\":\"key\",\"problem\":\"Not <known>.\"}"), 8,
		NULL);
	assert_str(um_control_problem_field(problem), "key");
	assert_true(str_has(put("key"),
		STR("aria-describedby=\"e-key h-key\" required "
		    "aria-invalid=\"true\" autofocus")));
	assert_true(str_has(um_buf_str(&html),
		STR("id=\"e-key\"><span lang=\"en\" dir=\"ltr\">"
		    "Not &lt;known&gt;.</span></span>")));
	assert_false(str_has(put("pem"), STR("aria-invalid")));
	assert_int_equal(um_control_problem_field(NULL).len, 0);
}

/* For a text, a secret, a choice and a box: the rest stands under them. */
TEST(under_a_field_are_its_help_its_link_and_its_mistake)
{
	static const struct {
		const char *field;
		const char *order[6];
	} rows[] = {
		{ "\"type\":\"text\"",
			{ "<label ", ">A</span>", "<input ", ">H<", ">L<",
				"id=\"e-a\"" } },
		{ "\"type\":\"secret\"",
			{ "<label ", "<input ", ">Show</button>", ">H<", ">L<",
				"id=\"e-a\"" } },
		{ "\"type\":\"multiline\"",
			{ "<label ", ">A</span>", "</textarea>", ">H<", ">L<",
				"id=\"e-a\"" } },
		{ "\"type\":\"choice\",\"choices\":[{\"value\":\"x\","
		  "\"label\":\"X\"}]",
			{ "<label ", ">A</span>", "</select>", ">H<", ">L<",
				"id=\"e-a\"" } },
		{ "\"type\":\"checkbox\"",
			{ "<label ", "<input ", ">A</span>", ">H<", ">L<",
				"id=\"e-a\"" } },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_schema_fault fault;
		struct um_definition one;
		struct um_buf json = { 0 };
		struct um_str rest;

		um_buf_cat(&json,
			"{\"title\":\"T\",\"fields\":[{\"name\":\"a\","
			"\"label\":\"A\",\"help\":\"H\",\"link\":{\"url\":"
			"\"https://a.example/\",\"label\":\"L\"},",
			rows[i].field, "}]}");
		assert_true(um_definition_read(&one, um_buf_str(&json), false,
			&fault));
		controls.definition = &one;
		controls.answers = &answers;
		answers.input[0].mistake = UM_MISTAKE_MISSING;
		um_buf_clear(&html);
		um_control_put(&controls, &one.input[0]);
		rest = um_buf_str(&html);
		for (size_t n = 0; n < LENGTH(rows[i].order); n++) {
			um_str_cut(&rest, rows[i].order[n]);
			row_begin("%zu, %s", i, rows[i].order[n]);
			assert_non_null(rest.ptr);
		}
		um_definition_free(&one);
		um_buf_free(&json);
	}
}

TEST(a_comment_is_a_field_too)
{
	static const struct um_definition
		required = { .comment = UM_COMMENT_REQUIRED },
		optional = { .comment = UM_COMMENT_OPTIONAL };

	controls.definition = &required;
	controls.answers = &answers;
	answers.comment.value = STR("a < b");
	um_control_put(&controls, NULL);
	assert_true(str_has(um_buf_str(&html),
		STR("id=\"f-comment\" name=\"comment\" required>\n"
		    "a &lt; b</textarea>")));
	controls.definition = &optional;
	answers.comment.mistake = UM_MISTAKE_TOO_LONG;
	um_buf_clear(&html);
	um_control_put(&controls, NULL);
	assert_true(str_has(um_buf_str(&html), STR("at most 2000")));
	assert_true(str_has(um_buf_str(&html), STR("<small>")));
}

int
main(void)
{
#define FIELD_TEST(name)                                                       \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	static const struct CMUnitTest tests[] = {
		FIELD_TEST(each_type_has_its_element),
		FIELD_TEST(a_field_has_its_label_its_help_and_its_link),
		FIELD_TEST(a_field_shows_what_was_sent_but_never_a_secret),
		FIELD_TEST(
			a_mistake_is_beside_its_field_and_the_first_has_the_focus),
		FIELD_TEST(a_problem_is_beside_its_field),
		FIELD_TEST(under_a_field_are_its_help_its_link_and_its_mistake),
		FIELD_TEST(a_comment_is_a_field_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
