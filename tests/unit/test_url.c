/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/url.h"
#include "support.h"

TEST(the_host_and_port_of_an_address_end_at_its_path)
{
	static const struct {
		const char *url;
		const char *rest; /* NULL: refused */
	} cases[] = {
		{ "https://a.example", "" },
		{ "https://a.example:8443", "" },
		{ "https://[2001:db8::1]", "" },
		{ "https://a.example/", "/" },
		{ "https://a.example/b@c\\d e", "/b@c\\d e" },
		{ "https://a.example?b", "?b" },
		{ "https://a.example#b", "#b" },
		{ "https://{team}.example/b", "/b" },
		{ "http://127.0.0.1", "" },
		{ "http://localhost:80", "" },
		{ "http://[::1]:8080/b", "/b" },
		{ "http://localhost?b", "?b" },
		{ "https://", NULL },
		{ "https:///b", NULL },
		{ "https://?b", NULL },
		{ "https://ada@a.example", NULL },
		{ "https://a.example\\@b.example/", NULL },
		{ "https://a b", NULL },
		{ "https://a\r\nX: y", NULL },
		{ "https:/a.example", NULL },
		{ "HTTPS://a.example", NULL },
		{ "http://a.example", NULL },
		{ "http://127.0.0.1.a.example", NULL },
		{ "http://localhost.a.example/", NULL },
		{ "http://127.0.0.1:", NULL },
		{ "http://127.0.0.1:/", NULL },
		{ "http://127.0.0.1:x", NULL },
		{ "http://127.0.0.1:80x", NULL },
		{ "http://127.0.0.1@a.example", NULL },
		{ "http://127.0.0.2", NULL },
		{ "//a.example", NULL },
		{ "http", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		const char *end = um_url_authority_end(cases[i].url);

		assert_row(cases[i].url,
			cases[i].rest == NULL ? end == NULL
					      : end != NULL
					&& strcmp(end, cases[i].rest) == 0);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_host_and_port_of_an_address_end_at_its_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
