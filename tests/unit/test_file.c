/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "support.h"

TEST(read_whole_up_to_a_limit)
{
	char *path = file_make(STR("a\0b\n"), 0600), *reason;
	struct um_error err = { "" };
	struct um_buf out = { 0 };

	assert_true(um_file_read(&out, path, 4, &err));
	assert_int_equal(out.len, 4);
	assert_memory_equal(out.ptr, "a\0b\n", 4);
	um_buf_free(&out);
	assert_false(um_file_read(&out, path, 3, &err));
	assert_true(asprintf(&reason, "%s: over 3 bytes", path) > 0);
	assert_error(&err, reason);
	um_buf_free(&out);
	free(reason);
	file_remove(path);
	assert_false(um_file_read(&out, "/nowhere/file", 3, &err));
	assert_error(&err, "/nowhere/file: No such file or directory");
	assert_false(um_file_read(&out, "/tmp", 3, &err));
	assert_error(&err, "/tmp: Is a directory");
}

TEST(all_bytes_are_written_or_it_says_so)
{
	char *path = file_make(STR(""), 0600);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct um_error err = { "" };
	struct um_buf out = { 0 };

	assert_true(um_file_write(fd, STR("a\0b")));
	assert_true(um_file_write(fd, STR("")));
	assert_true(um_file_read(&out, path, 4, &err));
	assert_true(um_str_eq(um_buf_str(&out), STR("a\0b")));
	assert_false(um_file_write(full, STR("a")));
	assert_int_equal(errno, ENOSPC);
	um_buf_free(&out);
	close(fd);
	close(full);
	file_remove(path);
}

/* A right of its group is the operator's choice. */
TEST(who_has_a_right_on_it)
{
	static const struct {
		const char *label;
		mode_t mode;
		bool good;
	} rows[] = {
		{ "owner", 0600, true },
		{ "group", 0660, true },
		{ "others read", 0604, false },
		{ "others write", 0602, false },
		{ "others execute", 0601, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct stat st = { .st_mode = S_IFREG | rows[i].mode };
		struct um_error err = { "" };

		assert_row(rows[i].label,
			um_file_is_private(&st, "f", &err) == rows[i].good);
		assert_row(rows[i].label,
			(strncmp(err.text, "f: ", 3) == 0) != rows[i].good);
	}
}

TEST(where_it_could_be_appended)
{
	char *path = file_make(STR(""), 0600);
	struct um_error err = { "" };
	char *beside, *below;

	assert_true(asprintf(&beside, "%s.new", path) > 0);
	assert_true(asprintf(&below, "%s/x", path) > 0);
	assert_true(um_file_can_append(path, &err));
	assert_true(um_file_can_append(beside, &err));
	assert_int_equal(access(beside, F_OK), -1);
	assert_false(um_file_can_append(below, &err));
	assert_false(um_file_can_append("/nowhere/log", &err));
	assert_error(&err, "/nowhere/log: No such file or directory");
	free(beside);
	free(below);
	file_remove(path);
}

TEST(changes_are_seen_once)
{
	char *path = file_make(STR("1"), 0600);
	struct um_file_version seen = { 0 };
	FILE *f;

	assert_true(um_file_changed(&seen, path));
	assert_false(um_file_changed(&seen, path));
	f = fopen(path, "a");
	assert_non_null(f);
	fputc('2', f);
	fclose(f);
	assert_true(um_file_changed(&seen, path));
	assert_false(um_file_changed(&seen, path));
	file_remove(path);
	assert_false(um_file_changed(&seen, "/nowhere/file"));
}

TEST(a_file_that_goes_is_a_change)
{
	char *path = file_make(STR("1"), 0600);
	const char *gone = "/nowhere/file";
	struct um_file_version seen = { 0 };

	assert_false(um_file_changed_or_gone(&seen, gone));
	assert_true(um_file_changed_or_gone(&seen, path));
	assert_false(um_file_changed_or_gone(&seen, path));
	assert_true(um_file_changed_or_gone(&seen, gone));
	assert_false(um_file_changed_or_gone(&seen, gone));
	assert_true(um_file_changed_or_gone(&seen, path));
	file_remove(path);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_whole_up_to_a_limit),
		cmocka_unit_test(all_bytes_are_written_or_it_says_so),
		cmocka_unit_test(who_has_a_right_on_it),
		cmocka_unit_test(where_it_could_be_appended),
		cmocka_unit_test(changes_are_seen_once),
		cmocka_unit_test(a_file_that_goes_is_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
