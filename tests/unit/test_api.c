/* SPDX-License-Identifier: MIT */
/*
 * What the api has beside its requests: when it reads its keys again, and when a call
 * of `wait` goes on.
 */
#include "api/api.h"

#include <stdio.h>
#include <string.h>

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

/* So many elements, of which some have seen what they show no longer. */
static void
watch(struct um_watched_element *elements, size_t len, size_t moved)
{
	memset(elements, 0, len * sizeof(elements[0]));
	for (size_t i = 0; i < len; i++) {
		elements[i].id[0] = (uint8_t)i;
		elements[i].has_seen = i < moved;
	}
}

/* What the caller has never seen is in no hurry: it comes with what moves. */
TEST(a_call_gathers_while_much_is_announced)
{
	static const struct {
		const char *label;
		size_t moved;
		unsigned announced;
		bool gathers;
	} rows[] = {
		{ "nothing is announced", 0, 0, false },
		{ "nothing has moved", 0, UM_API_BUSY, true },
		{ "too little has moved", 1, UM_API_BUSY, true },
		{ "enough has moved", 2, UM_API_BUSY, false },
	};
	struct um_watched_element elements[64];
	struct um_config config = {
		.api_keys_file = file_make(um_str(LINE), 0640),
	};
	struct um_context context = { .config = &config };
	struct um_notifications_events events = { .notice = count_notice };
	struct um_api api = { .context = &context,
		.notifications = um_notifications_new("", &events) };
	struct um_exchange ex = { 0 };
	struct um_error err;

	assert_true(um_api_keys_load(&api.keys, config.api_keys_file, &err));
	assert_non_null(api.notifications);
	um_watched_begin(&api.watched);
	TAILQ_INIT(&api.parked);
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct um_api_request request = { .ex = &ex,
			.is_due = true,
			.gathers_until = SECOND,
			.elements = elements,
			.elements_len = LENGTH(elements) };

		row_begin("%s", rows[i].label);
		memcpy(request.key,
			um_api_keys_find(api.keys, "Bearer " KEY)->digest,
			sizeof(request.key));
		watch(elements, LENGTH(elements), rows[i].moved);
		ex.own = &request;
		api.announced = rows[i].announced;
		api.wakes_at = -1;
		um_api_side.park(&api, &ex, 0);
		assert_int_equal(api.wakes_at, rows[i].gathers ? SECOND : 0);
		um_api_side.leave(&api, &ex);
	}
	um_watched_free(&api.watched);
	um_notifications_free(api.notifications);
	um_api_keys_free(api.keys);
	file_remove(config.api_keys_file);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_read_again_within_a_second),
		cmocka_unit_test(a_call_gathers_while_much_is_announced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
