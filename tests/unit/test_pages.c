/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "config/pages.h"
#include "support.h"

static bool
load(struct um_brand *brand, const char *text, struct um_error *err)
{
	struct um_conf_loc root = um_conf_root("dir/config.json", err);
	struct um_conf_loc at = um_conf_member(&root, "pages");
	json_t *object = json_loads(text, 0, NULL);
	bool ok;

	assert_non_null(object);
	ok = um_pages_load(brand, &at, object);
	json_decref(object);
	return ok;
}

TEST(without_an_entry_there_is_no_brand)
{
	struct um_error err;
	struct um_conf_loc at = um_conf_root("config.json", &err);
	struct um_brand brand;

	assert_true(um_pages_load(&brand, &at, NULL));
	assert_null(brand.name);
	assert_null(brand.style);
	um_pages_free(&brand);
}

TEST(a_whole_brand)
{
	struct um_brand brand;
	struct um_error err;

	assert_true(load(&brand,
		"{\"name\": \"Smith & Sons\", \"logo_url\": \"/a/logo.svg\","
		" \"accent\": \"#0a7d4f\", \"accent_dark\": \"#7ddb9d\","
		" \"return_to\": \"vscode://smith.app/back?a=1\","
		" \"return_schemes\": [\"cursor\", \"vscode\"],"
		" \"switch_user\": \"/oauth2/sign_out?rd=%2F\"}",
		&err));
	assert_string_equal(brand.name, "Smith & Sons");
	assert_string_equal(brand.logo_url, "/a/logo.svg");
	/* White is read best on the one, black on the other. */
	assert_string_equal(brand.style,
		":root{--accent:#0a7d4f;--on-accent:#ffffff}"
		"@media(prefers-color-scheme:dark){"
		":root{--accent:#7ddb9d;--on-accent:#000000}}");
	assert_int_equal(strlen(brand.style_hash), strlen("sha256-") + 44);
	assert_string_equal(brand.return_to, "vscode://smith.app/back?a=1");
	assert_string_equal(brand.switch_user, "/oauth2/sign_out?rd=%2F");
	um_pages_free(&brand);
}

TEST(the_ways_back_that_are_accepted)
{
	static const char *const urls[] = { "https://app.example.com",
		"https://app.example.com:8443/a?b=c#d",
		"http://localhost:3000/", "http://127.0.0.1/",
		"http://[::1]:3000/", "claude://home" };

	for (size_t i = 0; i < LENGTH(urls); i++) {
		struct um_buf text = { 0 };
		struct um_brand brand;
		struct um_error err;

		row_begin("%s", urls[i]);
		um_buf_cat(&text, "{\"return_to\": \"", urls[i],
			"\", \"return_schemes\": [\"claude\"]}");
		um_buf_put(&text, "", 1);
		assert_true(load(&brand, text.ptr, &err));
		assert_string_equal(brand.return_to, urls[i]);
		um_pages_free(&brand);
		um_buf_free(&text);
	}
}

#define SAYS(pointer, reason) "dir/config.json: /pages" pointer ": " reason
#define BAD_URL                                                                \
	SAYS("/return_to",                                                     \
		"is neither https:// with a host nor a URL whose scheme is "   \
		"in return_schemes")
#define BAD_LOGO_URL                                                           \
	SAYS("/logo_url", "is not the path of an image on this host")
#define BAD_SWITCH                                                             \
	SAYS("/switch_user",                                                   \
		"is neither https:// with a host nor a path on this host")
#define BAD_COLOUR SAYS("/accent", "is not a colour of the form #rrggbb")

TEST(what_is_refused)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ "[]", SAYS("", "is not an object") },
		{ "{\"colour\": \"#fff\"}", SAYS("/colour", "is not known") },
		{ "{\"name\": \"\"}", SAYS("/name", "is empty") },
		{ "{\"name\": \"a\\u0001\"}",
			SAYS("/name", "has a control character") },
		{ "{\"name\": \"x\", \"logo\": \"/logo.svg\"}",
			SAYS("/logo", "is not known") },
		{ "{\"logo_url\": \"/logo.png\"}",
			SAYS("/name", "is missing") },
		{ "{\"name\": \"x\", \"logo_url\": \"logo.png\"}",
			BAD_LOGO_URL },
		{ "{\"name\": \"x\", \"logo_url\": \"//evil.example/a\"}",
			BAD_LOGO_URL },
		{ "{\"name\": \"x\", \"logo_url\": \"https://a.example/\"}",
			BAD_LOGO_URL },
		{ "{\"name\": \"x\", \"logo_url\": \"/a/../b\"}",
			BAD_LOGO_URL },
		{ "{\"name\": \"x\", \"logo_url\": \"/a?b\"}", BAD_LOGO_URL },
		{ "{\"accent\": \"red\"}", BAD_COLOUR },
		{ "{\"accent\": \"#12345\"}", BAD_COLOUR },
		{ "{\"accent\": \"#12345g\"}", BAD_COLOUR },
		{ "{\"accent\": \"#fff;}*{x:y\"}", BAD_COLOUR },
		{ "{\"accent\": \"#f5c518\"}",
			SAYS("/accent",
				"has a contrast of 1.6 with the page "
				"in the light scheme; 3 is the "
				"least") },
		{ "{\"accent\": \"#0a2540\"}",
			SAYS("/accent",
				"has a contrast of 1.0 with the page "
				"in the dark (see accent_dark) "
				"scheme; 3 is the least") },
		{ "{\"accent\": \"#0a7d4f\", \"accent_dark\": \"#000000\"}",
			SAYS("/accent_dark", "has a contrast of 1.2") },
		{ "{\"accent_dark\": \"#7ddb9d\"}",
			SAYS("/accent", "is missing beside") },
		{ "{\"switch_user\": \"//evil.example/\"}", BAD_SWITCH },
		{ "{\"switch_user\": \"javascript:alert(1)\"}", BAD_SWITCH },
		{ "{\"switch_user\": \"http://app.example.com/\"}",
			BAD_SWITCH },
		{ "{\"switch_user\": \"/a\\nb\"}", BAD_SWITCH },
		{ "{\"return_to\": \"http://app.example.com/\"}", BAD_URL },
		{ "{\"return_to\": \"https://\"}", BAD_URL },
		{ "{\"return_to\": \"https:///x\"}", BAD_URL },
		{ "{\"return_to\": \"https:app\"}", BAD_URL },
		{ "{\"return_to\": \"//app.example.com/\"}", BAD_URL },
		{ "{\"return_to\": \"/back\"}", BAD_URL },
		{ "{\"return_to\": \"https://user@app.example.com/\"}",
			BAD_URL },
		{ "{\"return_to\": \"https://app.example.com/a b\"}", BAD_URL },
		{ "{\"return_to\": \"https://app.example.com\\\\@b/\"}",
			BAD_URL },
		{ "{\"return_to\": \"http://localhost.evil.example/\"}",
			BAD_URL },
		{ "{\"return_to\": \"http://localhost:x/\"}", BAD_URL },
		{ "{\"return_to\": \"vscode://x\"}", BAD_URL },
		{ "{\"return_to\": \"javascript:alert(1)\"}", BAD_URL },
		{ "{\"return_to\": \"JavaScript:alert(1)\"}", BAD_URL },
		{ "{\"return_schemes\": [\"javascript\"]}",
			SAYS("/return_schemes/0",
				"is not the scheme of an application") },
		{ "{\"return_schemes\": [\"vscode:\"]}",
			SAYS("/return_schemes/0", "is not a scheme") },
		{ "{\"return_schemes\": [\"VSCode\"]}",
			SAYS("/return_schemes/0", "is not a scheme") },
		{ "{\"return_schemes\": []}",
			SAYS("/return_schemes", "is not a list") },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_brand brand;
		struct um_error err;

		row_begin("%s", cases[i].text);
		assert_false(load(&brand, cases[i].text, &err));
		assert_error(&err, cases[i].reason);
		um_pages_free(&brand);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_an_entry_there_is_no_brand),
		cmocka_unit_test(a_whole_brand),
		cmocka_unit_test(the_ways_back_that_are_accepted),
		cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
