/* SPDX-License-Identifier: MIT */
/* What the gate lets through, and its limits. */
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "support.h"

TEST(a_request_as_nginx_sends_it)
{
	static const int ids[] = { 1, 255, 256, 65535 };
	struct um_buf bytes = { 0 };

	for (size_t i = 0; i < LENGTH(ids); i++) {
		row_begin("%d", ids[i]);
		put_request(&bytes, ids[i], STR(""));
		assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_WHOLE);
		put_request(&bytes, ids[i], STR("state=x&code=y"));
		assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_WHOLE);
	}
}

/* In two pieces, cut at every byte, each piece in memory of its length. */
TEST(split_at_every_byte)
{
	struct um_buf bytes = { 0 };

	put_request(&bytes, 1, STR("state=x&code=y"));
	for (size_t cut = 0; cut < bytes.len; cut++) {
		struct um_fcgi_check scan = { 0 };
		char *part = malloc(cut != 0 ? cut : 1);

		assert_non_null(part);
		memcpy(part, bytes.ptr, cut);
		assert_int_equal(um_fcgi_check(&scan,
					 (struct um_str){ part, cut }),
			UM_FCGI_CHECK_MORE);
		free(part);
		assert_int_equal(um_fcgi_check(&scan, um_buf_str(&bytes)),
			UM_FCGI_CHECK_WHOLE);
		assert_int_equal(scan.body, 14);
		assert_int_equal(scan.request_id, 1);
	}
	um_buf_free(&bytes);
}

TEST(byte_by_byte)
{
	struct um_fcgi_check scan = { 0 };
	struct um_buf bytes = { 0 };

	put_request(&bytes, 1, STR("state=x&code=y"));
	for (size_t len = 1; len < bytes.len; len++)
		assert_int_equal(um_fcgi_check(&scan,
					 (struct um_str){ bytes.ptr, len }),
			UM_FCGI_CHECK_MORE);
	assert_int_equal(um_fcgi_check(&scan, um_buf_str(&bytes)),
		UM_FCGI_CHECK_WHOLE);
	um_buf_free(&bytes);
}

TEST(padding_of_every_length)
{
	for (int padding = 0; padding < 256; padding++) {
		struct um_buf bytes = { 0 };

		put_record(&bytes, BEGIN, 1, BEGIN_CONTENT, padding);
		put_record(&bytes, PARAMS, 1, STR("\1\1ab"), padding);
		put_record(&bytes, PARAMS, 1, STR(""), 0);
		put_record(&bytes, IN, 1, STR("body"), padding);
		put_record(&bytes, IN, 1, STR(""), padding);
		assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_WHOLE);
	}
}

/* Four bytes may hold any length, also at the end of the parameters. */
TEST(lengths_of_four_bytes)
{
	static const struct {
		struct um_str pairs;
		enum um_fcgi_check_state state;
	} cases[] = {
		{ { "\0\x80\0\0\0", 5 }, UM_FCGI_CHECK_WHOLE },
		{ { "\x80\0\0\1\x80\0\0\1ab", 10 }, UM_FCGI_CHECK_WHOLE },
		{ { "\0\x80\0\0", 4 }, UM_FCGI_CHECK_BAD },
		{ { "\0\x80\0\0\1", 5 }, UM_FCGI_CHECK_BAD },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf bytes = { 0 };

		row_begin("%zu", i);
		put_request_of(&bytes, cases[i].pairs);
		assert_int_equal(scan_all(&bytes), cases[i].state);
	}
}

/* As Apache sends more than 16 KB. The limits are for all of them together. */
TEST(parameters_in_several_records)
{
	static char value[UM_FCGI_PARAMS_MAX / 2];

	memset(value, 'v', sizeof(value));
	for (size_t over = 0; over < 2; over++) {
		struct um_buf bytes = { 0 };

		put_begin(&bytes, 1);
		for (size_t i = 0; i < 2; i++) {
			struct um_buf pairs = { 0 };

			put_pair(&pairs, STR(""),
				(struct um_str){ value,
					sizeof(value) - 5 + i * over });
			put_record(&bytes, PARAMS, 1, um_buf_str(&pairs), 3);
			um_buf_free(&pairs);
		}
		put_record(&bytes, PARAMS, 1, STR(""), 0);
		put_record(&bytes, IN, 1, STR(""), 0);
		assert_int_equal(scan_all(&bytes),
			over ? UM_FCGI_CHECK_BAD : UM_FCGI_CHECK_WHOLE);
	}
	for (int over = 0; over < 2; over++) {
		struct um_buf bytes = { 0 };

		put_begin(&bytes, 1);
		for (int i = 0; i < UM_FCGI_PAIRS_MAX + over; i++)
			put_record(&bytes, PARAMS, 1, STR("\1\1ab"), 0);
		put_record(&bytes, PARAMS, 1, STR(""), 0);
		put_record(&bytes, IN, 1, STR(""), 0);
		assert_int_equal(scan_all(&bytes),
			over ? UM_FCGI_CHECK_BAD : UM_FCGI_CHECK_WHOLE);
	}
}

TEST(as_many_pairs_as_the_limit)
{
	for (int over = 0; over < 2; over++) {
		struct um_buf pairs = { 0 };
		struct um_buf bytes = { 0 };

		for (int i = 0; i < UM_FCGI_PAIRS_MAX + over; i++)
			put_pair(&pairs, STR("a"), STR("b"));
		put_request_of(&bytes, um_buf_str(&pairs));
		um_buf_free(&pairs);
		assert_int_equal(scan_all(&bytes),
			over ? UM_FCGI_CHECK_BAD : UM_FCGI_CHECK_WHOLE);
	}
}

TEST(parameters_as_long_as_the_limit)
{
	static char value[UM_FCGI_PARAMS_MAX];

	memset(value, 'v', sizeof(value));
	for (size_t over = 0; over < 2; over++) {
		size_t len = UM_FCGI_PARAMS_MAX - 5 + over;
		struct um_buf pairs = { 0 };
		struct um_buf bytes = { 0 };

		put_pair(&pairs, STR(""), (struct um_str){ value, len });
		assert_int_equal(pairs.len, UM_FCGI_PARAMS_MAX + over);
		put_request_of(&bytes, um_buf_str(&pairs));
		um_buf_free(&pairs);
		assert_int_equal(scan_all(&bytes),
			over ? UM_FCGI_CHECK_BAD : UM_FCGI_CHECK_WHOLE);
	}
}

TEST(a_body_as_long_as_the_limit)
{
	static char content[CONTENT_MAX];

	memset(content, 'x', sizeof(content));
	for (size_t over = 0; over < 2; over++) {
		size_t left = UM_FCGI_BODY_MAX + over;
		struct um_buf bytes = { 0 };

		put_request(&bytes, 1, STR(""));
		bytes.len -= 8;
		while (left != 0) {
			size_t len = left < CONTENT_MAX ? left : CONTENT_MAX;

			put_record(&bytes, IN, 1,
				(struct um_str){ content, len }, 0);
			left -= len;
		}
		put_record(&bytes, IN, 1, STR(""), 0);
		assert_int_equal(scan_all(&bytes),
			over ? UM_FCGI_CHECK_BAD : UM_FCGI_CHECK_WHOLE);
	}
}

/* A body of single bytes is nearly all frame: that has its limit, too. */
TEST(no_more_frame_than_the_limit)
{
	const size_t max = (size_t)UM_FCGI_BYTES_MAX;
	struct um_fcgi_check scan = { 0 };
	struct um_buf bytes = { 0 };

	put_begin(&bytes, 1);
	put_record(&bytes, PARAMS, 1, STR("\1\1ab"), 0);
	put_record(&bytes, PARAMS, 1, STR(""), 0);
	while (bytes.len <= max)
		put_record(&bytes, IN, 1, STR("x"), 255);
	assert_int_equal(um_fcgi_check(&scan,
				 (struct um_str){ bytes.ptr, max }),
		UM_FCGI_CHECK_MORE);
	assert_int_equal(um_fcgi_check(&scan,
				 (struct um_str){ bytes.ptr, max + 1 }),
		UM_FCGI_CHECK_BAD);
	um_buf_free(&bytes);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_as_nginx_sends_it),
		cmocka_unit_test(split_at_every_byte),
		cmocka_unit_test(byte_by_byte),
		cmocka_unit_test(padding_of_every_length),
		cmocka_unit_test(lengths_of_four_bytes),
		cmocka_unit_test(parameters_in_several_records),
		cmocka_unit_test(as_many_pairs_as_the_limit),
		cmocka_unit_test(parameters_as_long_as_the_limit),
		cmocka_unit_test(a_body_as_long_as_the_limit),
		cmocka_unit_test(no_more_frame_than_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
