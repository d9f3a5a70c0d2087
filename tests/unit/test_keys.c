/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/encode.h"
#include "support.h"

/* 32 times 0x11, and 31 times. */
#define KEY_32 "ERERERERERERERERERERERERERERERERERERERERERE"
#define KEY_31 "EREREREREREREREREREREREREREREREREREREREREQ"

/* Loads a file of these bytes; what is said must name the file. */
static struct um_keys *
load(struct um_str bytes, unsigned mode, struct um_error *err)
{
	char *path = file_make(bytes, mode);
	struct um_keys *keys = NULL;

	err->text[0] = '\0';
	if (!um_keys_load(&keys, path, err)) {
		assert_null(keys);
		assert_ptr_equal(strstr(err->text, path), err->text);
	}
	file_remove(path);
	return keys;
}

static void
assert_refused(struct um_str bytes, const char *reason)
{
	struct um_error err;

	assert_null(load(bytes, 0600, &err));
	assert_error(&err, reason);
}

TEST(the_first_key_mints_and_all_open)
{
	struct um_keys *keys = keys_of("# the keys\n"
				       "\n"
				       "  \t\r\n"
				       "7 " KEY_32 "\n"
				       "\t# indented\n"
				       "  0\t" KEY_32 "=  \r\n"
				       "255 " KEY_32);

	assert_int_equal(um_keys_minting(keys)->kid, 7);
	for (int kid = 0; kid < 256; kid++) {
		const struct um_key *key = um_keys_find(keys, (uint8_t)kid);

		assert_int_equal(key != NULL,
			kid == 0 || kid == 7 || kid == 255);
		if (key == NULL)
			continue;
		assert_int_equal(key->kid, kid);
		assert_int_equal(key->secret_len, 32);
		for (size_t i = 0; i < 32; i++)
			assert_int_equal(key->secret[i], 0x11);
	}
	um_keys_free(keys);
}

TEST(both_alphabets_and_every_length_are_taken)
{
	uint8_t secret[UM_SECRET_MAX];
	struct um_error err;

	memset(secret, 0xfe, sizeof(secret));
	for (size_t len = UM_SECRET_MIN; len <= UM_SECRET_MAX; len++) {
		char *line = keys_line(1, secret, len);
		struct um_keys *keys = load(um_str(line), 0600, &err);

		assert_non_null(keys);
		assert_int_equal(um_keys_find(keys, 1)->secret_len, len);
		um_keys_free(keys);
		for (char *c = line; *c != '\0'; c++)
			*c = (char)(*c == '-' ? '+' : *c == '_' ? '/' : *c);
		keys = load(um_str(line), 0600, &err);
		assert_non_null(keys);
		assert_memory_equal(um_keys_find(keys, 1)->secret, secret, len);
		um_keys_free(keys);
		free(line);
	}
}

TEST(a_malformed_line_is_refused_by_its_number)
{
	static const struct {
		const char *text;
		const char *reason;
	} cases[] = {
		{ "1\n", ":1: not `<kid>" },
		{ KEY_32 "\n", ":1: not `<kid>" },
		{ "1 " KEY_32 " x\n", ":1: not `<kid>" },
		{ "# one\n\n1 " KEY_32 "\nx " KEY_32 "\n", ":4: the kid" },
		{ "256 " KEY_32 "\n", ":1: the kid" },
		{ "-1 " KEY_32 "\n", ":1: the kid" },
		{ "+1 " KEY_32 "\n", ":1: the kid" },
		{ "1x " KEY_32 "\n", ":1: the kid" },
		{ "0x1 " KEY_32 "\n", ":1: the kid" },
		{ "18446744073709551617 " KEY_32 "\n", ":1: the kid" },
		{ "1 " KEY_31 "\n", ":1: the key is under 32 bytes" },
		{ "1 AA==\n", ":1: the key is under 32 bytes" },
		{ "1 " KEY_32 "EE\n", ":1: the key is not base64" },
		{ "1 " KEY_32 "==\n", ":1: the key is not base64" },
		{ "1 !!" KEY_32 "\n", ":1: the key is not base64" },
		{ "1 " KEY_32 "\n2 " KEY_32 "\n1 " KEY_32 "\n",
			":3: duplicate kid 1" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_keys *keys;
		struct um_error err;

		row_begin("%s", cases[i].text);
		assert_refused(um_str(cases[i].text), cases[i].reason);
		assert_false(um_keys_parse(&keys, cases[i].text, "name", &err));
		assert_null(keys);
		assert_error(&err, cases[i].reason);
		assert_ptr_equal(strstr(err.text, "name:"), err.text);
	}
}

/* As a variable of the environment may have it, without a newline. */
TEST(commas_separate_the_keys_of_a_text)
{
	static const char *const texts[] = {
		"7 " KEY_32 ",8 " KEY_32 "=",
		"7 " KEY_32 ", 8 " KEY_32 ",",
		"\n# two keys\n7 " KEY_32 "\n8 " KEY_32 "\n",
	};

	for (size_t i = 0; i < LENGTH(texts); i++) {
		struct um_file_version version;
		struct um_keys *keys;
		struct um_error err;

		row_begin("%s", texts[i]);
		assert_true(um_keys_parse(&keys, texts[i], "name", &err));
		assert_int_equal(um_keys_minting(keys)->kid, 7);
		assert_int_equal(um_keys_find(keys, 8)->secret_len, 32);
		version = um_keys_version(keys);
		assert_int_equal(version.ino, 0);
		um_keys_free(keys);
	}
}

TEST(a_text_without_a_key_is_refused)
{
	static const char *const texts[] = { "", " ", ",,", "# none" };
	struct um_keys *keys;
	struct um_error err;

	for (size_t i = 0; i < LENGTH(texts); i++) {
		row_begin("%s", texts[i]);
		assert_false(um_keys_parse(&keys, texts[i], "name", &err));
		assert_string_equal(err.text, "name: no key in it");
	}
	/* A comma is no separator in a file. */
	assert_refused(um_str("1 " KEY_32 ",2 " KEY_32), "not `<kid>");
}

TEST(no_key_is_refused)
{
	assert_refused(um_str(""), ": no key in it");
	assert_refused(um_str("\n# 1 " KEY_32 "\n"), ": no key in it");
}

TEST(a_nul_is_refused)
{
	assert_refused(STR("1 " KEY_32 "\0\n"), ":1: there is a NUL in it");
	assert_refused(STR("1 " KEY_32 "\0"), ":1: there is a NUL in it");
	assert_refused(STR("1 " KEY_32 "\n\0"), ":2: there is a NUL in it");
	assert_refused(STR("1 " KEY_32 "\n\0 2 " KEY_32 "\n"),
		":2: there is a NUL in it");
}

TEST(a_long_line_is_refused)
{
	char line[4096];
	struct um_error err;

	memset(line, '#', sizeof(line));
	assert_null(load((struct um_str){ line, sizeof(line) }, 0600, &err));
	assert_error(&err, ":1: the line is too long");
	line[0] = '1';
	line[1] = ' ';
	memset(line + 2, 'A', UM_BASE64_LEN(UM_SECRET_MAX + 1));
	assert_null(load((struct um_str){ line,
				 2 + UM_BASE64_LEN(UM_SECRET_MAX + 1) },
		0600, &err));
	assert_error(&err, ":1: the key is not base64, or over 256 bytes");
}

TEST(every_kid_fits_in_one_file)
{
	struct um_buf text = { 0 };
	struct um_error err;
	struct um_keys *keys;

	for (int kid = 0; kid < UM_KEYS_MAX; kid++)
		um_buf_printf(&text, "%d %s\n", kid, KEY_32);
	keys = load(um_buf_str(&text), 0600, &err);
	assert_non_null(keys);
	for (int kid = 0; kid < UM_KEYS_MAX; kid++)
		assert_int_equal(um_keys_find(keys, (uint8_t)kid)->kid, kid);
	um_keys_free(keys);
	um_buf_printf(&text, "0 %s\n", KEY_32);
	assert_null(load(um_buf_str(&text), 0600, &err));
	assert_error(&err, ":257: over 256 keys");
	um_buf_free(&text);
}

TEST(others_must_not_reach_the_file)
{
	for (unsigned mode = 0600; mode <= 0677; mode++) {
		struct um_error err;
		struct um_keys *keys = load(STR("1 " KEY_32), mode, &err);

		assert_int_equal(keys != NULL, (mode & 07) == 0);
		if (keys == NULL)
			assert_error(&err, "others may read or write it");
		um_keys_free(keys);
	}
}

TEST(what_is_no_file_is_refused)
{
	struct um_keys *keys;
	struct um_error err;

	assert_false(um_keys_load(&keys, "/nonexistent/keys", &err));
	assert_string_equal(err.text,
		"/nonexistent/keys: No such file or directory");
	assert_null(keys);
	assert_false(um_keys_load(&keys, "tests", &err));
	assert_string_equal(err.text, "tests: not a file");
	assert_null(keys);
}

/* Opening one for reading would wait for a writer. */
TEST(a_fifo_is_refused_at_once)
{
	char *path = file_make(STR(""), 0600);
	struct um_keys *keys;
	struct um_error err;

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_false(um_keys_load(&keys, path, &err));
	alarm(0);
	assert_error(&err, "not a file");
	file_remove(path);
}

/* As Kubernetes mounts a secret: two links, of which the second is swapped. */
TEST(a_swapped_link_has_changed)
{
	char folder[] = "/tmp/urlmode-keys-XXXXXX";
	char names[5][64];
	static const char *const parts[] = { "one", "two", "..data", "..next",
		"keys" };
	struct um_error err = { "" };
	struct um_file_version seen;
	struct um_keys *keys;

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < LENGTH(parts); i++)
		snprintf(names[i], sizeof(names[i]), "%s/%s", folder, parts[i]);
	for (int i = 0; i < 2; i++) {
		char file[400];
		FILE *f;

		assert_int_equal(mkdir(names[i], 0755), 0);
		snprintf(file, sizeof(file), "%s/keys", names[i]);
		f = fopen(file, "w");
		assert_non_null(f);
		fprintf(f, "%d " KEY_32 "\n", i + 1);
		fclose(f);
		assert_int_equal(chmod(file, 0440), 0);
	}
	assert_int_equal(symlink("one", names[2]), 0);
	assert_int_equal(symlink("..data/keys", names[4]), 0);
	assert_true(um_keys_load(&keys, names[4], &err));
	assert_int_equal(um_keys_minting(keys)->kid, 1);
	seen = um_keys_version(keys);
	um_keys_free(keys);
	assert_false(um_file_changed(&seen, names[4]));
	assert_int_equal(symlink("two", names[3]), 0);
	assert_int_equal(rename(names[3], names[2]), 0);
	assert_true(um_file_changed(&seen, names[4]));
	assert_true(um_keys_load(&keys, names[4], &err));
	assert_int_equal(um_keys_minting(keys)->kid, 2);
	um_keys_free(keys);
	for (int i = 0; i < 2; i++) {
		char file[400];

		snprintf(file, sizeof(file), "%s/keys", names[i]);
		unlink(file);
		rmdir(names[i]);
	}
	unlink(names[2]);
	unlink(names[4]);
	assert_int_equal(rmdir(folder), 0);
}

TEST(a_file_that_was_written_or_replaced_has_changed)
{
	char *path = file_make(um_str("1 " KEY_32 "\n"), 0600);
	char *other = file_make(um_str("1 " KEY_32 "\n"), 0600);
	struct um_error err = { "" };
	struct um_file_version seen;
	struct um_keys *keys;
	FILE *f;

	assert_true(um_keys_load(&keys, path, &err));
	seen = um_keys_version(keys);
	assert_false(um_file_changed(&seen, path));
	f = fopen(path, "a");
	assert_non_null(f);
	fputs("2 " KEY_32 "\n", f);
	fclose(f);
	assert_true(um_file_changed(&seen, path));
	assert_false(um_file_changed(&seen, path));
	/* With the content that it has had. */
	assert_int_equal(rename(other, path), 0);
	assert_true(um_file_changed(&seen, path));
	/* One that is away for a moment is the one that was read. */
	assert_int_equal(unlink(path), 0);
	assert_false(um_file_changed(&seen, path));
	um_keys_free(keys);
	free(path);
	free(other);
}

TEST(no_secret_is_in_what_is_said)
{
	struct um_error err;

	assert_null(load(STR("1 " KEY_31 "\n"), 0600, &err));
	assert_null(strstr(err.text, "ERER"));
	assert_null(load(STR("1 " KEY_32 "!\n"), 0600, &err));
	assert_null(strstr(err.text, "ERER"));
	assert_null(load(STR("1 " KEY_32 " " KEY_32 "\n"), 0600, &err));
	assert_null(strstr(err.text, "ERER"));
	assert_null(load(STR(KEY_32 " 1\n"), 0600, &err));
	assert_null(strstr(err.text, "ERER"));
}

TEST(nothing_to_free_is_fine)
{
	um_keys_free(NULL);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_key_mints_and_all_open),
		cmocka_unit_test(both_alphabets_and_every_length_are_taken),
		cmocka_unit_test(a_malformed_line_is_refused_by_its_number),
		cmocka_unit_test(commas_separate_the_keys_of_a_text),
		cmocka_unit_test(a_text_without_a_key_is_refused),
		cmocka_unit_test(no_key_is_refused),
		cmocka_unit_test(a_nul_is_refused),
		cmocka_unit_test(a_long_line_is_refused),
		cmocka_unit_test(every_kid_fits_in_one_file),
		cmocka_unit_test(others_must_not_reach_the_file),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(a_fifo_is_refused_at_once),
		cmocka_unit_test(a_swapped_link_has_changed),
		cmocka_unit_test(
			a_file_that_was_written_or_replaced_has_changed),
		cmocka_unit_test(no_secret_is_in_what_is_said),
		cmocka_unit_test(nothing_to_free_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
