/* SPDX-License-Identifier: MIT */
/*
 * What a user has sent: the values of a posted form, checked against the
 * definition of its page, and as the JSON of the result.
 *
 * A value of one line has no spaces at its ends, unless it is a secret. In a
 * value of several lines, each CR LF is a line feed, as the user has typed or
 * pasted it: browsers send CR LF. Everything else stays byte for byte.
 */
#ifndef UM_ANSWERS_H
#define UM_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"
#include "form/definition.h"
#include "form/value.h"
#include "http/form.h"

/* The parameter of a field is this and its name. */
#define UM_ANSWER_PREFIX "field."
#define UM_ANSWER_COMMENT "comment"
#define UM_ANSWER_READER "reader" /* for whom the page was made, sealed */

/* Values of the JSON of a form, with their names and the object itself. */
#define UM_ANSWERS_NODES_MAX (1 + 2 * (UM_FORM_INPUTS_MAX + 1))

/* Bytes of the JSON of all values, so that a result has room for them. */
#define UM_ANSWERS_MAX 65000

struct um_answered {
	struct um_str value; /* empty: the user has left it empty */
	enum um_mistake mistake;
};

/* Zeroed to begin with. */
struct um_answers {
	struct um_answered input[UM_FORM_INPUTS_MAX]; /* as the definition's */
	struct um_answered comment;
	size_t mistakes; /* how many there are */
	char *bytes;     /* that the values point into */
	size_t bytes_len;
};

enum um_answers_state {
	UM_ANSWERS_READ,    /* `mistakes` says whether they are good */
	UM_ANSWERS_UNKNOWN, /* the form has no such parameter */
	UM_ANSWERS_FAILED,  /* memory ran out */
};

/*
 * Reads a posted form, in which `state`, `answer` and `reader` are nobody's field.
 * The caller frees the answers in every case. Without `check`, values may be
 * missing or wrong, as in a form that is declined.
 */
enum um_answers_state um_answers_read(struct um_answers *answers,
	const struct um_definition *definition, const struct um_form *form,
	bool check);

/*
 * Appends the object of the values of a form without mistakes: a checkbox is
 * true or false, a number a number, and an empty value is left out; without
 * `secrets`, so is a secret.
 */
void um_answers_put(struct um_buf *json, const struct um_answers *answers,
	const struct um_definition *definition, bool secrets);

/*
 * Appends an object of what was typed, right or wrong, and of the comment, as
 * texts; a secret is left out, and so is a text with which the object would have
 * more than `max` bytes. Returns whether it has all others.
 */
bool um_answers_put_typed(struct um_buf *json, const struct um_answers *answers,
	const struct um_definition *definition, size_t max);

/*
 * Reads the values of such an object, of either kind, without checking them. The
 * caller frees the answers in every case. False: out of memory.
 */
bool um_answers_read_json(struct um_answers *answers,
	const struct um_definition *definition,
	const struct um_json_node *values);

/* Wipes the values, and frees them. */
void um_answers_free(struct um_answers *answers);

#endif
