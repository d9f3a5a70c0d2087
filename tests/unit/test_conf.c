/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/conf.h"
#include "support.h"

TEST(a_relative_path_starts_at_the_folder_of_the_file)
{
	static const struct {
		const char *file, *path, *resolved;
	} cases[] = {
		{ "/etc/urlmode/config.json", "keys", "/etc/urlmode/keys" },
		{ "/etc/urlmode/config.json", "a/keys", "/etc/urlmode/a/keys" },
		{ "/etc/urlmode/config.json", "../keys",
			"/etc/urlmode/../keys" },
		{ "/etc/urlmode/config.json", "/run/keys", "/run/keys" },
		{ "/config.json", "keys", "/keys" },
		{ "a/config.json", "keys", "a/keys" },
		{ "config.json", "keys", "keys" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_error err;
		struct um_conf_loc at = um_conf_root(cases[i].file, &err);
		char *path = strdup(cases[i].path);

		assert_row(cases[i].resolved,
			um_conf_resolve_path(&at, &path)
				&& strcmp(path, cases[i].resolved) == 0);
		free(path);
	}
}

TEST(a_day_is_its_first_millisecond)
{
	static const struct {
		const char *json;
		int64_t ms; /* -1: refused; 7: as it was */
	} cases[] = {
		{ "{\"day\": \"1970-01-02\"}", 86400000 },
		{ "{\"day\": \"2024-02-29\"}", 1709164800000 },
		{ "{}", 7 },
		{ "{\"day\": \"2026-02-29\"}", -1 },
		{ "{\"day\": \"2026-2-9\"}", -1 },
		{ "{\"day\": \"2026-11\"}", -1 },
		{ "{\"day\": \"2026-11-28 \"}", -1 },
		{ "{\"day\": \"2026-11-28T00:00:00Z\"}", -1 },
		{ "{\"day\": \"\"}", -1 },
		{ "{\"day\": 20261128}", -1 },
		{ "{\"day\": null}", -1 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_error err;
		struct um_conf_loc at = um_conf_root("file", &err);
		json_t *node = json_loads(cases[i].json, 0, NULL);
		int64_t ms = 7;
		bool ok = um_conf_get_day(&at, node, "day", &ms);

		assert_row(cases[i].json, ok == (cases[i].ms != -1));
		if (ok)
			assert_row(cases[i].json, ms == cases[i].ms);
		else
			assert_non_null(strstr(err.text, "file: /day: is "));
		json_decref(node);
	}
}

TEST(a_list_holds_strings_only)
{
	static const struct {
		const char *json;
		bool may_be_one;
		size_t len; /* 0: refused */
	} cases[] = {
		{ "[\"a\"]", false, 1 },
		{ "[\"a\", \"b\"]", true, 2 },
		{ "\"a\"", true, 1 },
		{ "\"a\"", false, 0 },
		{ "\"\"", true, 0 },
		{ "[]", true, 0 },
		{ "[\"a\", 1]", true, 0 },
		{ "[\"\"]", false, 0 },
		{ "[\"a\\u0000b\"]", false, 0 },
		{ "{\"a\": \"b\"}", true, 0 },
		{ "null", true, 0 },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_error err;
		struct um_conf_loc at = um_conf_root("file", &err);
		json_t *node = json_loads(cases[i].json,
			JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		struct um_strlist list;
		bool ok;

		row_begin("%s", cases[i].json);
		assert_non_null(node);
		ok = um_conf_get_strlist(&list, &at, node, cases[i].may_be_one);
		assert_row(cases[i].json, ok == (cases[i].len != 0));
		assert_row(cases[i].json, !ok || list.len == cases[i].len);
		assert_row(cases[i].json,
			ok || strncmp(err.text, "file:", 5) == 0);
		um_strlist_free(&list);
		json_decref(node);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_relative_path_starts_at_the_folder_of_the_file),
		cmocka_unit_test(a_day_is_its_first_millisecond),
		cmocka_unit_test(a_list_holds_strings_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
