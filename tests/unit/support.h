/* SPDX-License-Identifier: MIT */
/* What the unit tests share. They run with the top of the tree as folder. */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "core/str.h"
#include "core/uuid.h"
#include "crypto/keys.h"
#include "crypto/token.h"

/*
 * A test. It fails at its end when assert_row() has found a bad row. When it
 * fails earlier, the row that row_begin() has named last is printed.
 */
#define TEST(name)                                                             \
	static void name##_body(void);                                         \
	static void name(void **state __attribute__((unused)))                 \
	{                                                                      \
		rows_begin(#name);                                             \
		name##_body();                                                 \
		rows_end();                                                    \
	}                                                                      \
	static void name##_body(void)
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* The bytes of a literal, NULs among them. */
#define STR(literal) ((struct um_str){ (literal), sizeof(literal) - 1 })

/*
 * An assertion about one row of a table, which `label` names. A bad row is
 * printed, and the test goes on with the next one.
 */
#define assert_row(label, condition)                                           \
	row_check((condition), (label), #condition, __FILE__, __LINE__)
void row_check(bool good, const char *label, const char *condition,
	const char *file, int line);
void rows_begin(const char *test);
void rows_end(void);

/*
 * Names the row that the assertions after it are about: for rows with more than
 * one assertion, and for those that a shared function checks.
 */
void row_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

void assert_str(struct um_str got, const char *expected);
void assert_error(const struct um_error *err, const char *expected);

/* Whether `part` is in there; both may hold NUL. */
bool str_has(struct um_str whole, struct um_str part);

/* Exactly `len` bytes out of hexadecimal digits. */
void bytes_of_hex(uint8_t *out, size_t len, const char *hex);
void bytes_of_uuid(uint8_t out[static UM_UUID_LEN], const char *uuid);

/* A new file; file_remove() unlinks it and frees the path. */
char *file_make(struct um_str bytes, unsigned mode);
void file_remove(char *path);

/* The keys of a keys file with this text, which must be good. */
struct um_keys *keys_of(const char *text);
/* The keys file's line of a secret; the caller frees it. */
char *keys_line(int kid, const uint8_t *secret, size_t len);

/* An array of tests/vectors/token.json, or of form.json; the caller decrefs it. */
json_t *vectors(const char *section);
json_t *form_vectors(const char *section);
/* The keys file of a vector; the caller frees it. */
struct um_keys *keys_of_vector(const json_t *vector);
const char *vector_text(const json_t *vector, const char *key);

/*
 * How far it is from one changed bit, length or value to the next that a test
 * tries: 1, or what MUTATION_STEP says where all of them take too long. valgrind
 * takes minutes for all.
 */
size_t mutation_step(void);

/* Fills with 00 01 02 …, on from call to call. */
void counting_random(void *out, size_t len);

#endif
