/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "http/text.h"
#include "support.h"

/* RFC 9110 section 12.5.4; only the first subtag counts. */
TEST(the_language_that_weighs_most_is_chosen)
{
	static const struct {
		const char *header;
		enum um_language language;
	} cases[] = {
		{ NULL, UM_LANGUAGE_EN },
		{ "", UM_LANGUAGE_EN },
		{ "*", UM_LANGUAGE_EN },
		{ "de", UM_LANGUAGE_DE },
		{ "DE-ch", UM_LANGUAGE_DE },
		{ "zh-Hant-TW", UM_LANGUAGE_ZH },
		{ "pt-BR,pt;q=0.9,en;q=0.8", UM_LANGUAGE_PT },
		{ "nl,fr;q=0.5", UM_LANGUAGE_FR },
		{ "it;q=0.9,de;q=1", UM_LANGUAGE_DE },
		{ "en;q=0.8, ja;q=0.9", UM_LANGUAGE_JA },
		{ "fr;q=0.8, de;q=0.8", UM_LANGUAGE_FR },
		{ "fr;q=0.800, de;q=0.801", UM_LANGUAGE_DE },
		{ "ko ; q=0.5 , es ;\tQ=1.000", UM_LANGUAGE_ES },
		{ ",,de,", UM_LANGUAGE_DE },
		/* q=0 is "not acceptable". */
		{ "de;q=0", UM_LANGUAGE_EN },
		{ "de;q=0.000,it;q=0.001", UM_LANGUAGE_IT },
		/* Not one of ours, though it begins so. */
		{ "deu", UM_LANGUAGE_EN },
		{ "d", UM_LANGUAGE_EN },
		{ "de_CH", UM_LANGUAGE_EN },
		/* A weight that is none makes its range count for nothing. */
		{ "de;q=1.001,it", UM_LANGUAGE_IT },
		{ "de;q=2,it;q=0.1", UM_LANGUAGE_IT },
		{ "de;q=,it;q=0.1", UM_LANGUAGE_IT },
		{ "de;q=.9,it;q=0.1", UM_LANGUAGE_IT },
		{ "de;q=0.9999,it;q=0.1", UM_LANGUAGE_IT },
		{ "de;q=0.x,it;q=0.1", UM_LANGUAGE_IT },
		{ "de;q=0-9,it;q=0.1", UM_LANGUAGE_IT },
		{ "de;level=1,it;q=0.1", UM_LANGUAGE_IT },
		{ "de;,it;q=0.1", UM_LANGUAGE_IT },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].header != NULL ? cases[i].header : "NULL",
			um_language_of(um_str(cases[i].header))
				== cases[i].language);
}

TEST(every_language_has_every_text)
{
	assert_int_equal(UM_LANGUAGE_COUNT, 10);
	for (int l = 0; l < UM_LANGUAGE_COUNT; l++) {
		enum um_language language = (enum um_language)l;
		struct um_str code = um_str(um_language_code(language));

		row_begin("%s", code.ptr);
		assert_memory_equal(um_text(language, UM_TEXT_LANG), code.ptr,
			code.len);
		for (int t = 0; t < UM_TEXT_COUNT; t++) {
			const char *text = um_text(language, (enum um_text)t);

			row_begin("%s, %d", code.ptr, t);
			assert_non_null(text);
			assert_true(text[0] != '\0');
			assert_true(um_str_is_text(um_str(text)));
		}
	}
}

/* Neither a text nor what is put into it can be markup. */
TEST(a_text_cannot_break_out_of_its_place)
{
	static const char attack[] = "{provider}<script>'\"&";

	for (int l = 0; l < UM_LANGUAGE_COUNT; l++) {
		for (int t = 0; t < UM_TEXT_COUNT; t++) {
			struct um_buf html = { 0 };

			row_begin("%d, %d", l, t);
			um_text_put(&html, (enum um_language)l, (enum um_text)t,
				(const struct um_text_value[]){
					{ "requester", um_str(attack) },
					{ "provider", um_str(attack) },
					{ "site", um_str(attack) },
					{ "number", um_str(attack) },
					{ "currency", um_str(attack) },
					{ "seconds", um_str(attack) },
					{ 0 },
				},
				"", "");
			um_buf_put(&html, "", 1);
			assert_false(html.failed);
			assert_null(strpbrk(html.ptr, "<>\"'"));
			um_buf_free(&html);
		}
	}
}

TEST(values_stand_where_their_names_are)
{
	const struct um_text_value values[] = {
		{ "requester", STR("A & B") },
		{ "provider", STR("{requester}") },
		{ 0 },
	};
	struct um_buf html = { 0 };

	um_text_put(&html, UM_LANGUAGE_EN, UM_TEXT_CONFIRM_PAYMENT, values,
		"<b>", "</b>");
	assert_str(um_buf_str(&html),
		"<b>A &amp; B</b> asks you to pay with <b>{requester}</b>.");
	um_buf_clear(&html);
	um_text_put(&html, UM_LANGUAGE_EN, UM_TEXT_BACK_TO, NULL, "", "");
	assert_str(um_buf_str(&html), "Back to ");
	um_buf_free(&html);
}

TEST(an_amount_is_written_as_people_write_it)
{
	static const struct {
		enum um_language language;
		const char *decimal, *currency, *expected;
	} cases[] = {
		{ UM_LANGUAGE_EN, "10.50", "EUR",
			"EUR\xc2\xa0"
			"10.50" },
		{ UM_LANGUAGE_EN, "1234567.50", "USD",
			"USD\xc2\xa0"
			"1,234,567.50" },
		{ UM_LANGUAGE_DE, "1234.50", "EUR",
			"1.234,50\xc2\xa0"
			"EUR" },
		{ UM_LANGUAGE_FR, "1234.50", "EUR",
			"1\xe2\x80\xaf"
			"234,50\xc2\xa0"
			"EUR" },
		{ UM_LANGUAGE_ES, "1234.50", "EUR",
			"1234,50\xc2\xa0"
			"EUR" },
		{ UM_LANGUAGE_ES, "12345", "CLP",
			"12.345\xc2\xa0"
			"CLP" },
		{ UM_LANGUAGE_JA, "123456", "JPY",
			"JPY\xc2\xa0"
			"123,456" },
		{ UM_LANGUAGE_AR, "999.999", "KWD",
			"999.999\xc2\xa0"
			"KWD" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf html = { 0 };

		row_begin("%zu", i);
		um_text_put_amount(&html, cases[i].language,
			um_str(cases[i].decimal), um_str(cases[i].currency));
		assert_str(um_buf_str(&html), cases[i].expected);
		um_buf_free(&html);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_language_that_weighs_most_is_chosen),
		cmocka_unit_test(every_language_has_every_text),
		cmocka_unit_test(a_text_cannot_break_out_of_its_place),
		cmocka_unit_test(values_stand_where_their_names_are),
		cmocka_unit_test(an_amount_is_written_as_people_write_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
