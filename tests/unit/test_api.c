/* SPDX-License-Identifier: MIT */
/* What the api has beside its requests: when it reads its keys again. */
#include "api/api.h"

#include <stdio.h>

#include "config/config.h"
#include "support.h"

#define SECOND 1000
#define KEY "umk_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
#define LINE                                                                   \
	"shop - "                                                              \
	"6f704f09d61a2117ac54dbeb830bed058afd3807464e1ccac788e4a224f6b25d\n"

static unsigned notices;

static void
count_notice(const char *text, void *arg)
{
	(void)text;
	(void)arg;
	notices++;
}

static void
rewrite(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Before each request it looks at the clock: a second later it has the file. */
TEST(keys_are_read_again_within_a_second)
{
	static const struct {
		const char *label, *text;
		bool known;
		unsigned notices;
	} rows[] = {
		{ "added", LINE, true, 0 },
		{ "a file that is refused changes nothing", "shop", true, 1 },
		{ "removed", "# nobody\n", false, 1 },
		{ "added again", "\n" LINE, true, 1 },
	};
	struct um_config config = {
		.api_keys_file = file_make(um_str("\n\n\n"), 0640),
	};
	struct um_context context = { .config = &config };
	struct um_api api = { .context = &context,
		.loop = { .notice = count_notice } };
	int64_t now = (int64_t)10 * SECOND;

	TAILQ_INIT(&api.parked);
	notices = 0;
	um_api_side.look(&api, now);
	assert_null(um_api_keys_find(api.keys, "Bearer " KEY));
	for (size_t i = 0; i < LENGTH(rows); i++) {
		row_begin("%s", rows[i].label);
		rewrite(config.api_keys_file, rows[i].text);
		now += SECOND;
		um_api_side.look(&api, now);
		assert_int_equal(um_api_keys_find(api.keys, "Bearer " KEY)
				!= NULL,
			rows[i].known);
		assert_int_equal(notices, rows[i].notices);
	}
	um_api_keys_free(api.keys);
	file_remove(config.api_keys_file);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_read_again_within_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
