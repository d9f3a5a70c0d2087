/* SPDX-License-Identifier: MIT */
/*
 * Strict reading of the JSON files that people write: whatever is not known,
 * missing or of the wrong type is refused with the file's name, the place as a
 * JSON pointer (RFC 6901) and the reason. A value is never quoted, since it may
 * be a secret, except for a word in place of one of a few known words. Each
 * mistake is a line of the error, so that a caller can find all of a file.
 */
#ifndef UM_CONF_H
#define UM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "core/str.h"
#include "core/strlist.h"

#define UM_CONF_FILE_MAX 1048576 /* bytes of a file */
/* The characters of a name. */
#define UM_CONF_WORD "abcdefghijklmnopqrstuvwxyz0123456789-_"

struct um_conf_loc {
	const char *path;
	struct um_error *err;
	char pointer[256];
};

/*
 * Reads a whole file as JSON, without a repeated key; NULL is refused. The
 * caller gives it back with json_decref(), and what it read is wiped.
 */
json_t *um_conf_read_file(const char *path, struct um_error *err);

/* The root of the file; clears *err. */
struct um_conf_loc um_conf_root(const char *path, struct um_error *err);
/* A member of an object, an element of an array. */
struct um_conf_loc um_conf_member(const struct um_conf_loc *at,
	const char *key);
struct um_conf_loc um_conf_element(const struct um_conf_loc *at, size_t index);

/* Adds an error at this place. Always false, so that a caller can return it. */
bool um_conf_error(const struct um_conf_loc *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same for a member. */
bool um_conf_member_error(const struct um_conf_loc *at, const char *key,
	const char *reason);

/*
 * Adds an error that ends with the list of the known words (NULL-terminated).
 * Always false.
 */
bool um_conf_refuse_word(const struct um_conf_loc *at, const char *reason,
	const char *const *words);

/* The node is an object whose keys are all in the NULL-terminated list. */
bool um_conf_check_keys(const struct um_conf_loc *at, json_t *node,
	const char *const *keys);

/*
 * A member's text: a string, not empty, without a NUL, which the node owns.
 * Without the member: NULL, or refused when `required`.
 */
bool um_conf_get_text(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool required, const char **out);

/* A copy of it that the caller frees. Without the member *out stays. */
bool um_conf_take_text(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool required, char **out);

/* The same of a path, which um_conf_resolve_path() resolves. */
bool um_conf_take_path(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool required, char **out);

/* true or false. Without the member *out stays. */
bool um_conf_get_bool(const struct um_conf_loc *at, const json_t *object,
	const char *key, bool *out);

/*
 * A day as YYYY-MM-DD: its first millisecond (UTC), as Unix time. Without the
 * member *out stays.
 */
bool um_conf_get_day(const struct um_conf_loc *at, const json_t *object,
	const char *key, int64_t *out);

/* A required string out of a NULL-terminated list; its index. */
bool um_conf_get_choice(const struct um_conf_loc *at, const json_t *object,
	const char *key, const char *const *names, unsigned *out);

/* A required whole number from min to max. */
bool um_conf_get_integer(const struct um_conf_loc *at, const json_t *object,
	const char *key, long long min, long long max, long long *out);

/*
 * The texts of a member: an array of 1 to `max` strings, none of them empty or with a
 * NUL, which the node owns. Without the member *len is 0.
 */
bool um_conf_get_texts(const struct um_conf_loc *at, const json_t *object,
	const char *key, const char **out, size_t max, size_t *len);

/*
 * Copies an array of 1 to UM_STRLIST_MAX strings, none of them empty or with
 * a NUL; with `may_be_one`, a single string is accepted too. The caller frees
 * the list with um_strlist_free(), also after a failure.
 */
bool um_conf_get_strlist(struct um_strlist *list, const struct um_conf_loc *at,
	const json_t *node, bool may_be_one);

/* A copy that the caller frees. It fails only when memory runs out. */
bool um_conf_copy_text(const struct um_conf_loc *at, const char *text,
	char **out);

/*
 * Replaces a relative path by one that starts with the folder of the file being
 * read. An absolute path stays as it is. *path was allocated with malloc(), and
 * the caller frees it in every case. False: out of memory.
 */
bool um_conf_resolve_path(const struct um_conf_loc *at, char **path);

#endif
