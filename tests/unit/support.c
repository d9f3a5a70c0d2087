/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/encode.h"
#include "core/uuid.h"

#define VECTORS "tests/vectors/"

/* Of the test that runs. */
static unsigned bad_rows;
static struct {
	const char *test;
	pid_t pid; /* whose row it is, not a child's; 0: at none */
	char label[200];
} row;

/* cmocka leaves a test where it fails, so what is set here still stands. */
static void
report_row(void)
{
	if (row.pid == getpid())
		print_error("# %s: the last row was \"%s\"\n", row.test,
			row.label);
	row.pid = 0;
}

void
rows_begin(const char *test)
{
	static bool registered;

	if (!registered && atexit(report_row) == 0)
		registered = true;
	report_row();
	row.test = test;
	bad_rows = 0;
}

void
row_begin(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(row.label, sizeof(row.label), format, args);
	va_end(args);
	row.pid = getpid();
}

void
row_check(bool good, const char *label, const char *condition, const char *file,
	int line)
{
	if (good)
		return;
	bad_rows++;
	print_error("%s:%d: %s: %s\n", file, line, label, condition);
}

void
rows_end(void)
{
	row.pid = 0;
	if (bad_rows != 0)
		fail_msg("%u assertions about rows failed", bad_rows);
}

void
assert_str(struct um_str got, const char *expected)
{
	if (!um_str_is(got, expected))
		fail_msg("\"%.*s\" is not \"%s\"", (int)got.len,
			got.ptr != NULL ? got.ptr : "", expected);
}

void
assert_error(const struct um_error *err, const char *expected)
{
	if (strstr(err->text, expected) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err->text, expected);
}

bool
str_has(struct um_str whole, struct um_str part)
{
	return part.len == 0
		|| (whole.len != 0
			&& memmem(whole.ptr, whole.len, part.ptr, part.len)
				!= NULL);
}

void
bytes_of_hex(uint8_t *out, size_t len, const char *hex)
{
	size_t got;

	assert_true(um_hex_decode(out, len, &got, um_str(hex)));
	assert_int_equal(got, len);
}

void
bytes_of_uuid(uint8_t out[static UM_UUID_LEN], const char *uuid)
{
	assert_true(um_uuid_parse(out, um_str(uuid)));
}

char *
file_make(struct um_str bytes, unsigned mode)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	int fd;

	assert_true(asprintf(&path, "%s/urlmode-test-XXXXXX",
			    folder != NULL ? folder : "/tmp")
		> 0);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.ptr, bytes.len), bytes.len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

void
file_remove(char *path)
{
	unlink(path);
	free(path);
}

struct um_keys *
keys_of(const char *text)
{
	char *path = file_make(um_str(text), 0600);
	struct um_keys *keys;
	struct um_error err;

	if (!um_keys_load(&keys, path, &err))
		fail_msg("%s", err.text);
	file_remove(path);
	return keys;
}

char *
keys_line(int kid, const uint8_t *secret, size_t len)
{
	char text[UM_BASE64_LEN(UM_SECRET_MAX) + 1];
	char *line;

	assert_true(len <= UM_SECRET_MAX);
	um_base64url_encode(text, secret, len);
	assert_true(asprintf(&line, "%d %s\n", kid, text) > 0);
	return line;
}

static json_t *
vectors_of(const char *file, const char *section)
{
	json_error_t err;
	json_t *root = json_load_file(file, 0, &err);
	json_t *cases;

	if (root == NULL)
		fail_msg("%s: %s (the tests run at the top of the tree)", file,
			err.text);
	cases = json_incref(json_object_get(root, section));
	json_decref(root);
	assert_true(json_array_size(cases) > 0);
	return cases;
}

json_t *
vectors(const char *section)
{
	return vectors_of(VECTORS "token.json", section);
}

json_t *
form_vectors(const char *section)
{
	return vectors_of(VECTORS "form.json", section);
}

struct um_keys *
keys_of_vector(const json_t *vector)
{
	const char *hex = vector_text(vector, "secret_hex");
	uint8_t secret[UM_SECRET_MAX];
	size_t len = strlen(hex) / 2;
	struct um_keys *keys;
	char *line;

	bytes_of_hex(secret, len, hex);
	line = keys_line((int)json_integer_value(
				 json_object_get(vector, "kid")),
		secret, len);
	keys = keys_of(line);
	free(line);
	return keys;
}

const char *
vector_text(const json_t *vector, const char *key)
{
	const char *text = json_string_value(json_object_get(vector, key));

	if (text == NULL)
		fail_msg("no %s in the vector", key);
	return text;
}

void
counting_random(void *out, size_t len)
{
	static uint8_t next;
	uint8_t *bytes = out;

	for (size_t i = 0; i < len; i++)
		bytes[i] = next++;
}

size_t
mutation_step(void)
{
	const char *text = getenv("MUTATION_STEP");
	unsigned long step = text != NULL ? strtoul(text, NULL, 10) : 1;

	assert_true(step != 0);
	return step;
}
