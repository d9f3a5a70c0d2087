/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "server/memfile.h"
#include "support.h"

#define PAGES ((size_t)1 << 20)

static void
assert_reads(int fd, const char *expected)
{
	char text[64];
	ssize_t n = read(fd, text, sizeof(text));

	assert_true(n >= 0);
	assert_str((struct um_str){ text, (size_t)n }, expected);
	assert_int_equal(read(fd, text, sizeof(text)), 0);
}

/* Nothing of a longer one before it. */
TEST(exactly_what_was_put)
{
	struct um_error err;
	struct um_memfile *file = um_memfile_new(PAGES, &err);

	assert_non_null(file);
	assert_reads(um_memfile_put(file, STR("a longer request")),
		"a longer request");
	assert_reads(um_memfile_put(file, STR("short")), "short");
	assert_reads(um_memfile_put(file, STR("")), "");
	um_memfile_free(file);
}

TEST(no_more_than_its_size)
{
	static char large[PAGES + 1];
	struct um_error err;
	struct um_memfile *file = um_memfile_new(PAGES, &err);

	assert_int_equal(um_memfile_put(file,
				 (struct um_str){ large, sizeof(large) }),
		-1);
	assert_true(um_memfile_put(file, (struct um_str){ large, PAGES }) >= 0);
	um_memfile_free(file);
}

TEST(wiped)
{
	struct um_error err;
	struct um_memfile *file = um_memfile_new(PAGES, &err);
	char text[6];
	int fd = um_memfile_put(file, STR("secret"));

	um_memfile_wipe(file, 6);
	assert_int_equal(pread(fd, text, 6, (off_t)PAGES - 6), 6);
	assert_memory_equal(text, "\0\0\0\0\0\0", 6);
	um_memfile_free(file);
}

/* libfcgi closes a descriptor after an error. */
TEST(closed_elsewhere)
{
	struct um_error err;
	struct um_memfile *file = um_memfile_new(PAGES, &err);
	int fd = um_memfile_put(file, STR("before"));

	close(fd);
	um_memfile_closed(file);
	assert_reads(um_memfile_put(file, STR("after")), "after");
	um_memfile_free(file);
	um_memfile_free(NULL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_what_was_put),
		cmocka_unit_test(no_more_than_its_size),
		cmocka_unit_test(wiped),
		cmocka_unit_test(closed_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
