/* SPDX-License-Identifier: MIT */
/* What a user sends: tests/vectors/form.json, and what is no answer at all. */
#include <stdlib.h>
#include <string.h>

#include "form/answers.h"
#include "http/escape.h"
#include "support.h"

static const char *const codes[] = {
	[UM_MISTAKE_NONE] = "",
	[UM_MISTAKE_MISSING] = "missing",
	[UM_MISTAKE_CHARACTERS] = "characters",
	[UM_MISTAKE_TOO_SHORT] = "too_short",
	[UM_MISTAKE_TOO_LONG] = "too_long",
	[UM_MISTAKE_FORMAT] = "format",
	[UM_MISTAKE_EMAIL] = "email",
	[UM_MISTAKE_URL] = "url",
	[UM_MISTAKE_NUMBER] = "number",
	[UM_MISTAKE_TOO_SMALL] = "too_small",
	[UM_MISTAKE_TOO_GREAT] = "too_great",
	[UM_MISTAKE_CHOICE] = "choice",
	[UM_MISTAKE_TOGETHER] = "together",
};

static struct um_definition definition;
static struct um_answers answers;
static struct um_form form;

static void
define(const char *json, bool is_approval)
{
	struct um_schema_fault fault;

	assert_true(um_definition_read(&definition, um_str(json), is_approval,
		&fault));
}

static enum um_answers_state
post(struct um_str body, bool check)
{
	assert_int_equal(um_form_parse_max(&form, body, 32768),
		UM_REFUSAL_NONE);
	return um_answers_read(&answers, &definition, &form, check);
}

static void
clean(void)
{
	um_answers_free(&answers);
	um_form_free(&form);
	um_definition_free(&definition);
}

static void
post_vector(const json_t *posted)
{
	struct um_buf body = { 0 };
	const char *name;
	json_t *value;

	um_buf_puts(&body, "state=x&answer=submit");
	json_object_foreach ((json_t *)posted, name, value) {
		um_buf_puts(&body, "&");
		um_escape_url_arg(&body, um_str(name));
		um_buf_puts(&body, "=");
		um_escape_url_arg(&body, um_str(json_string_value(value)));
	}
	assert_int_equal(post(um_buf_str(&body), true), UM_ANSWERS_READ);
	um_buf_free(&body);
}

static void
check_values(const json_t *expected)
{
	struct um_buf json = { 0 };
	json_t *got;

	um_answers_put(&json, &answers, &definition, true);
	got = json_loadb(json.ptr, json.len, 0, NULL);
	assert_row("values", json_equal(got, expected));
	json_decref(got);
	um_buf_free(&json);
}

static void
check_vector(const json_t *vector)
{
	const json_t *mistakes = json_object_get(vector, "mistakes");
	char *text = json_dumps(json_object_get(vector, "form"), 0);

	row_begin("%s", vector_text(vector, "name"));
	define(text, false);
	free(text);
	post_vector(json_object_get(vector, "posted"));
	assert_row("mistakes", answers.mistakes == json_object_size(mistakes));
	for (size_t i = 0; i < definition.inputs_len; i++) {
		const struct um_input *input = &definition.input[i];
		const json_t *code = json_object_getn(mistakes, input->name.ptr,
			input->name.len);
		const char *expected = json_string_value(code);

		assert_row("a mistake",
			strcmp(codes[answers.input[i].mistake],
				expected != NULL ? expected : "")
				== 0);
	}
	if (mistakes == NULL)
		check_values(json_object_get(vector, "values"));
	clean();
}

TEST(values_and_mistakes)
{
	json_t *file = json_load_file("tests/vectors/form.json", 0, NULL);
	const json_t *vector;
	size_t i;

	assert_true(json_array_size(json_object_get(file, "answers")) >= 30);
	json_array_foreach (json_object_get(file, "answers"), i, vector) {
		check_vector(vector);
	}
	json_decref(file);
}

TEST(what_the_form_does_not_have)
{
	static const char *const bodies[] = { "field.b=1", "a=1", "field.=1",
		"field.A=1", "comment=1", "field.a.b=1", "FIELD.a=1", "=1" };

	for (size_t i = 0; i < LENGTH(bodies); i++) {
		define("{\"title\":\"T\",\"fields\":[{\"name\":\"a\","
		       "\"type\":\"text\",\"label\":\"A\"}]}",
			false);
		assert_row(bodies[i],
			post(um_str(bodies[i]), true) == UM_ANSWERS_UNKNOWN);
		clean();
	}
}

/* Whoever declines need not fill in anything. */
TEST(a_form_that_is_declined_is_not_checked)
{
	define("{\"title\":\"T\",\"fields\":[{\"name\":\"a\",\"type\":"
	       "\"email\","
	       "\"label\":\"A\",\"required\":true}]}",
		false);
	assert_int_equal(post(STR("field.a=x"), false), UM_ANSWERS_READ);
	assert_int_equal(answers.mistakes, 0);
	clean();
}

/* What a form shows again is what was sent, but for its secrets. */
TEST(values_are_read_again_from_their_json_without_secrets)
{
	struct um_buf json = { 0 }, again = { 0 };
	struct um_json_node *values;

	define("{\"title\":\"T\",\"fields\":["
	       "{\"name\":\"k\",\"type\":\"secret\",\"label\":\"K\"},"
	       "{\"name\":\"p\",\"type\":\"secret\",\"multiline\":true,"
	       "\"label\":\"P\"},"
	       "{\"name\":\"l\",\"type\":\"multiline\",\"label\":\"L\"},"
	       "{\"name\":\"n\",\"type\":\"number\",\"label\":\"N\"},"
	       "{\"name\":\"r\",\"type\":\"number\",\"label\":\"R\"},"
	       "{\"name\":\"y\",\"type\":\"checkbox\",\"label\":\"Y\"},"
	       "{\"name\":\"x\",\"type\":\"checkbox\",\"label\":\"X\"}]}",
		false);
	assert_int_equal(post(STR("field.k=S3cr3t&field.p=S3cr3t&field.l=a%0D"
				  "%0A%22b&field.n=-12&field.r=1.50&field.y="
				  "on"),
				 true),
		UM_ANSWERS_READ);
	um_answers_put(&json, &answers, &definition, false);
	assert_str(um_buf_str(&json),
		"{\"l\":\"a\\n\\\"b\",\"n\":-12,\"r\":1.50,\"y\":true,"
		"\"x\":false}");
	um_answers_free(&answers);
	values = um_json_parse(um_buf_str(&json), 64, NULL);
	assert_true(um_answers_read_json(&answers, &definition, values));
	assert_int_equal(answers.mistakes, 0);
	assert_str(answers.input[2].value, "a\n\"b");
	um_answers_put(&again, &answers, &definition, true);
	assert_true(um_str_eq(um_buf_str(&again), um_buf_str(&json)));
	free(values);
	um_buf_free(&json);
	um_buf_free(&again);
	clean();
}

/* More than a result holds is a mistake of the longest value. */
TEST(values_that_are_too_long_together)
{
	struct um_buf form_json = { 0 }, body = { 0 }, json = { 0 };
	static char text[UM_FORM_VALUES_MAX + 1];

	memset(text, 'x', UM_FORM_VALUES_MAX);
	um_buf_puts(&form_json, "{\"title\":\"T\",\"fields\":[");
	for (int i = 0; i < 9; i++) {
		um_buf_printf(&form_json,
			"%s{\"name\":\"n%d\",\"type\":\"multiline\","
			"\"label\":\"L\"}",
			i != 0 ? "," : "", i);
		um_buf_printf(&body, "&field.n%d=%s", i,
			i == 4 ? text : text + (i < 7 ? 1 : 900));
	}
	um_buf_puts(&form_json, "]}");
	um_buf_put(&form_json, "", 1);
	define(form_json.ptr, false);
	body.ptr[0] = '&';
	assert_int_equal(post(um_buf_str(&body), true), UM_ANSWERS_READ);
	assert_int_equal(answers.mistakes, 1);
	assert_int_equal(answers.input[4].mistake, UM_MISTAKE_TOGETHER);
	um_answers_free(&answers);
	um_form_free(&form);

	body.len -= 8192 - 900 + strlen("&field.n8=");
	assert_int_equal(post(um_buf_str(&body), true), UM_ANSWERS_READ);
	assert_int_equal(answers.mistakes, 0);
	um_answers_put(&json, &answers, &definition, true);
	assert_true(json.len > 64000 && json.len <= UM_ANSWERS_MAX);
	um_buf_free(&json);
	um_buf_free(&body);
	um_buf_free(&form_json);
	clean();
}

TEST(comments)
{
	static const struct {
		const char *form;
		const char *body;
		enum um_mistake mistake;
		const char *comment;
	} rows[] = {
		{ "required", "comment=a%0D%0Ab", UM_MISTAKE_NONE, "a\nb" },
		{ "required", "comment=", UM_MISTAKE_MISSING, "" },
		{ "required", "", UM_MISTAKE_MISSING, "" },
		{ "optional", "", UM_MISTAKE_NONE, "" },
		{ "optional", "comment=a%E2%80%AEb", UM_MISTAKE_CHARACTERS,
			NULL },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_buf json = { 0 };

		um_buf_cat(&json, "{\"title\":\"T\",\"comment\":\"",
			rows[i].form, "\"}");
		um_buf_put(&json, "", 1);
		define(json.ptr, true);
		assert_int_equal(post(um_str(rows[i].body), true),
			UM_ANSWERS_READ);
		assert_row(rows[i].body,
			answers.comment.mistake == rows[i].mistake
				&& (rows[i].comment == NULL
					|| um_str_is(answers.comment.value,
						rows[i].comment)));
		um_buf_free(&json);
		clean();
	}
}

TEST(a_long_comment)
{
	static char body[UM_FORM_COMMENT_MAX + 16] = "comment=";

	memset(body + 8, 'x', UM_FORM_COMMENT_MAX + 1);
	define("{\"title\":\"T\",\"comment\":\"optional\"}", true);
	post(um_str(body), true);
	assert_int_equal(answers.comment.mistake, UM_MISTAKE_TOO_LONG);
	um_answers_free(&answers);
	um_form_free(&form);
	body[UM_FORM_COMMENT_MAX + 8] = '\0';
	post(um_str(body), true);
	assert_int_equal(answers.comment.mistake, UM_MISTAKE_NONE);
	clean();
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_mistakes),
		cmocka_unit_test(what_the_form_does_not_have),
		cmocka_unit_test(a_form_that_is_declined_is_not_checked),
		cmocka_unit_test(
			values_are_read_again_from_their_json_without_secrets),
		cmocka_unit_test(values_that_are_too_long_together),
		cmocka_unit_test(comments),
		cmocka_unit_test(a_long_comment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
