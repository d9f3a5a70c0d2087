/* SPDX-License-Identifier: MIT */
/*
 * The strict reader of a request's JSON object. Whatever is missing, not known, of
 * another type or out of its range is a fault, which names the member. The first
 * fault counts: the functions below may be called one after another, and the
 * caller looks at the fault at the end.
 */
#ifndef UM_READER_H
#define UM_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/json.h"
#include "core/str.h"
#include "core/uuid.h"

#define UM_READER_MEMBERS_MAX 64 /* of one object */

/* Begins zeroed: there is none as long as the message is empty. */
struct um_reader_fault {
	char member[160];
	char message[320]; /* a sentence, without any text of the request */
};

struct um_reader {
	const struct um_json_node *object;
	struct um_reader_fault *fault;
	char place[96]; /* of the object, with its point; "": the root */
	/* Of an element, behind that: its array and its index; or NULL. */
	const char *list;
	size_t index;
	uint64_t known; /* the members that were asked for */
};

enum um_presence { UM_OPTIONAL, UM_REQUIRED };

/* The root of the request; a fault if it is no object. */
struct um_reader um_reader_root(const struct um_json_node *root,
	struct um_reader_fault *fault);

/* A fault at this member, unless there is one already. Always false. */
bool um_reader_refuse(struct um_reader *reader, const char *member,
	const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The member, or NULL. It is known from now on. */
const struct um_json_node *um_reader_get(struct um_reader *reader,
	const char *name);

/*
 * Each of these returns whether the member is there, as it must be. Otherwise
 * *out stays as it was, and there is a fault if it is `required`, or there and
 * wrong.
 */

/* A text of `min` to `max` bytes, without a NUL. It points into the nodes. */
bool um_reader_text(struct um_reader *reader, const char *name,
	enum um_presence presence, size_t min, size_t max, struct um_str *out);
/* The same, and only with these characters. */
bool um_reader_word(struct um_reader *reader, const char *name,
	enum um_presence presence, size_t max, const char *characters,
	struct um_str *out);
/* A whole number. */
bool um_reader_int(struct um_reader *reader, const char *name,
	enum um_presence presence, int64_t min, int64_t max, int64_t *out);
/* true or false; optional. */
bool um_reader_bool(struct um_reader *reader, const char *name, bool *out);
/* One of the words of a NULL-terminated list: its place. */
bool um_reader_choice(struct um_reader *reader, const char *name,
	enum um_presence presence, const char *const *words, size_t *out);
/* A UUID, in lower or upper case. */
bool um_reader_uuid(struct um_reader *reader, const char *name,
	enum um_presence presence, uint8_t out[static UM_UUID_LEN]);
/* An object with members of its own. */
bool um_reader_object(struct um_reader *reader, const char *name,
	enum um_presence presence, struct um_reader *out);
/* An array of `min` to `max` elements. */
bool um_reader_array(struct um_reader *reader, const char *name,
	enum um_presence presence, size_t min, size_t max,
	const struct um_json_node **out);

/*
 * Whether a member is for this kind. If not, it is a fault if the member is there.
 */
bool um_reader_is_for(struct um_reader *reader, const char *name, bool is_for);

/* The object that is this element of the array with this name. */
struct um_reader um_reader_element(struct um_reader *reader, const char *name,
	const struct um_json_node *element, size_t index);

/* A fault if the object has a member that nobody has asked for. */
void um_reader_end(struct um_reader *reader);

#endif
