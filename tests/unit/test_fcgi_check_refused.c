/* SPDX-License-Identifier: MIT */
/* What the gate keeps from libfcgi. */
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "support.h"

/* Only 1 is the version, in each record, before its content is there. */
TEST(another_version)
{
	struct um_buf bytes = { 0 };
	size_t at = 0;

	put_request(&bytes, 1, STR("body"));
	while (at < bytes.len) {
		size_t content = (size_t)(uint8_t)bytes.ptr[at + 4] << 8
			| (uint8_t)bytes.ptr[at + 5];

		for (int version = 0; version < 256; version++) {
			struct um_fcgi_check scan = { 0 };

			bytes.ptr[at] = (char)version;
			assert_int_equal(um_fcgi_check(&scan,
						 (struct um_str){ bytes.ptr,
							 at + 8 })
					== UM_FCGI_CHECK_BAD,
				version != 1);
		}
		bytes.ptr[at] = 1;
		at += 8 + content + (uint8_t)bytes.ptr[at + 6];
	}
	um_buf_free(&bytes);
}

/* libfcgi would read the padding as the next header. */
TEST(padding_behind_the_end_of_params)
{
	for (int padding = 0; padding < 256; padding++) {
		struct um_buf bytes = { 0 };

		put_record(&bytes, BEGIN, 1, BEGIN_CONTENT, 0);
		put_record(&bytes, PARAMS, 1, STR("\1\1ab"), 0);
		put_record(&bytes, PARAMS, 1, STR(""), padding);
		put_record(&bytes, IN, 1, STR(""), 0);
		assert_int_equal(scan_all(&bytes),
			padding == 0 ? UM_FCGI_CHECK_WHOLE : UM_FCGI_CHECK_BAD);
	}
}

TEST(another_role)
{
	for (int role = 0; role < 1024; role++) {
		const char content[8] = { (char)(role >> 8), (char)role, 1 };
		struct um_buf bytes = { 0 };

		put_record(&bytes, BEGIN, 1,
			(struct um_str){ content, sizeof(content) }, 0);
		put_record(&bytes, PARAMS, 1, STR("\1\1ab"), 0);
		put_record(&bytes, PARAMS, 1, STR(""), 0);
		put_record(&bytes, IN, 1, STR(""), 0);
		assert_int_equal(scan_all(&bytes),
			role == 1 ? UM_FCGI_CHECK_WHOLE : UM_FCGI_CHECK_BAD);
	}
}

/* Each type there is and is not, in the place of each record. */
TEST(another_type_or_order)
{
	static const int order[] = { BEGIN, PARAMS, PARAMS, IN, IN };

	for (size_t place = 0; place < LENGTH(order); place++) {
		for (int type = 0; type < 256; type++) {
			const struct um_str content[] = {
				BEGIN_CONTENT,
				STR("\1\1ab"),
				STR(""),
				STR("body"),
				STR(""),
			};
			struct um_buf bytes = { 0 };

			row_begin("type %d at place %zu", type, place);
			for (size_t i = 0; i < LENGTH(order); i++)
				put_record(&bytes, i == place ? type : order[i],
					1, content[i], 0);
			assert_int_equal(scan_all(&bytes),
				type == order[place] ? UM_FCGI_CHECK_WHOLE
						     : UM_FCGI_CHECK_BAD);
		}
	}
}

TEST(a_begin_of_another_length)
{
	for (size_t len = 0; len < 20; len++) {
		char content[20] = { 0, 1 };
		struct um_buf bytes = { 0 };

		put_record(&bytes, BEGIN, 1, (struct um_str){ content, len },
			0);
		assert_int_equal(scan_all(&bytes),
			len == 8 ? UM_FCGI_CHECK_MORE : UM_FCGI_CHECK_BAD);
	}
}

/* FastCGI section 4: request id 0 is for management. */
TEST(management_records)
{
	struct um_buf bytes = { 0 };

	put_begin(&bytes, 0);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	put_record(&bytes, GET_VALUES, 0, STR("\16\0FCGI_MAX_CONNS"), 0);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	put_begin(&bytes, 1);
	put_record(&bytes, GET_VALUES, 0, STR(""), 0);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	put_begin(&bytes, 1);
	put_record(&bytes, ABORT, 1, STR(""), 0);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	put_request(&bytes, 1, STR("body"));
	bytes.len -= 8;
	put_record(&bytes, DATA, 1, STR(""), 0);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
}

TEST(another_id_in_between)
{
	for (int place = 0; place < 4; place++) {
		struct um_buf bytes = { 0 };
		int id[4] = { 0x0101, 0x0101, 0x0101, 0x0101 };

		id[place] = place % 2 ? 0x0102 : 0x0201;
		put_begin(&bytes, 0x0101);
		put_record(&bytes, PARAMS, id[0], STR("\1\1ab"), 0);
		put_record(&bytes, PARAMS, id[1], STR(""), 0);
		put_record(&bytes, IN, id[2], STR("body"), 0);
		put_record(&bytes, IN, id[3], STR(""), 0);
		assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	}
}

TEST(no_parameters)
{
	struct um_buf bytes = { 0 };

	put_begin(&bytes, 1);
	put_record(&bytes, PARAMS, 1, STR(""), 0);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	put_begin(&bytes, 1);
	put_begin(&bytes, 1);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
}

/* One that no web server splits. */
TEST(a_pair_in_two_records)
{
	static const char pair[] = "\3\3abcdef";

	for (size_t at = 1; at < sizeof(pair) - 1; at++) {
		struct um_buf bytes = { 0 };

		put_begin(&bytes, 1);
		put_record(&bytes, PARAMS, 1, (struct um_str){ pair, at }, 0);
		put_record(&bytes, PARAMS, 1,
			(struct um_str){ pair + at, sizeof(pair) - 1 - at }, 0);
		put_record(&bytes, PARAMS, 1, STR(""), 0);
		put_record(&bytes, IN, 1, STR(""), 0);
		assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	}
}

/* Lengths that lie, against every way in which libfcgi would trust them. */
TEST(pairs_that_do_not_fill_the_record)
{
	const struct um_str bad[] = {
		STR("\1"),
		STR("\1\1"),
		STR("\1\1a"),
		STR("\1\1abc"),
		STR("\2\1ab"),
		STR("\1\2ab"),
		STR("\0\1"),
		STR("\1\0"),
		STR("\1\1ab\1"),
		STR("\1\1ab\1\1"),
		STR("\1\1ab\1\1c"),
		STR("\177\177ab"),
		STR("\x80"),
		STR("\x80\0"),
		STR("\x80\0\0"),
		STR("\x80\0\0\1"),
		STR("\1\x80\0\0"),
		STR("\1\x80\0\0\1a"),
		STR("\xff\xff\xff\xff\1ab"),
		STR("\1\xff\xff\xff\xff"
		    "ab"),
		STR("\xff\xff\xff\xff\xff\xff\xff\xff"
		    "ab"),
		STR("\x80\0\0\2\x80\0\0\1ab"),
	};
	const struct um_str good[] = {
		STR("\1\1ab"),
		STR("\0\0"),
		STR("\1\0a"),
		STR("\0\1a"),
		STR("\x80\0\0\1\x80\0\0\1ab"),
		STR("\1\x80\0\0\1ab"),
		STR("\1\1ab\2\1abc"),
	};
	struct um_buf bytes = { 0 };

	for (size_t i = 0; i < LENGTH(bad); i++) {
		put_request_of(&bytes, bad[i]);
		if (scan_all(&bytes) != UM_FCGI_CHECK_BAD)
			fail_msg("bad[%zu] was let through", i);
	}
	for (size_t i = 0; i < LENGTH(good); i++) {
		put_request_of(&bytes, good[i]);
		if (scan_all(&bytes) != UM_FCGI_CHECK_WHOLE)
			fail_msg("good[%zu] was refused", i);
	}
}

/* What comes after a NUL the program would not see: libfcgi cuts there. */
TEST(a_nul_in_a_name_or_value)
{
	const struct um_str pairs[] = {
		STR("\1\1\0b"),
		STR("\1\1a\0"),
		STR("\3\1a\0bc"),
		STR("\1\3ab\0c"),
	};
	struct um_buf bytes = { 0 };

	for (size_t i = 0; i < LENGTH(pairs); i++) {
		row_begin("%zu", i);
		put_request_of(&bytes, pairs[i]);
		assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	}
}

TEST(bytes_after_the_end)
{
	struct um_buf bytes = { 0 };

	put_request(&bytes, 1, STR("body"));
	um_buf_put(&bytes, "", 1);
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
	put_request(&bytes, 1, STR("body"));
	put_request(&bytes, 2, STR("body"));
	assert_int_equal(scan_all(&bytes), UM_FCGI_CHECK_BAD);
}

/* No single changed bit makes it read past what there is (a sanitizer says). */
TEST(any_bit_flipped)
{
	struct um_buf bytes = { 0 };

	put_request(&bytes, 1, STR("body"));
	for (size_t bit = 0; bit < 8 * bytes.len; bit++) {
		struct um_fcgi_check scan = { 0 };
		char *copy = malloc(bytes.len);

		assert_non_null(copy);
		memcpy(copy, bytes.ptr, bytes.len);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		um_fcgi_check(&scan, (struct um_str){ copy, bytes.len });
		assert_true(scan.at <= bytes.len);
		free(copy);
	}
	um_buf_free(&bytes);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_version),
		cmocka_unit_test(padding_behind_the_end_of_params),
		cmocka_unit_test(another_role),
		cmocka_unit_test(another_type_or_order),
		cmocka_unit_test(a_begin_of_another_length),
		cmocka_unit_test(management_records),
		cmocka_unit_test(another_id_in_between),
		cmocka_unit_test(no_parameters),
		cmocka_unit_test(a_pair_in_two_records),
		cmocka_unit_test(pairs_that_do_not_fill_the_record),
		cmocka_unit_test(a_nul_in_a_name_or_value),
		cmocka_unit_test(bytes_after_the_end),
		cmocka_unit_test(any_bit_flipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
