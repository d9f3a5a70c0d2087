/* SPDX-License-Identifier: MIT */
/*
 * Expressions: where a description takes its values from, and the functions
 * over them (lib/providers/VALUES.md, "Values"). They are compiled once, when
 * the description is loaded (description/expr_load), and evaluated for each
 * delivery, of which evaluating changes nothing.
 */
#ifndef UM_EXPR_H
#define UM_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/pointer.h"
#include "core/str.h"
#include "core/strlist.h"
#include "webhook/parsed.h"
#include "webhook/verifier.h"

#define UM_EXPR_DEPTH_MAX 4   /* nesting of functions */
#define UM_EXPR_PARTS_MAX 16  /* of a list */
#define UM_EXPR_HEADER_MAX 60 /* characters; a number may follow */
#define UM_PARAMS_MAX 16      /* parameters of a signature header */
#define UM_INSIDE_MAX 65536   /* bytes of a text that is JSON itself */

enum um_expr_kind {
	UM_EXPR_NONE,    /* not in the description: absent */
	UM_EXPR_LITERAL, /* of the description, or a constant of the site */
	UM_EXPR_HEADER,
	UM_EXPR_QUERY,
	UM_EXPR_FORM,
	UM_EXPR_MULTIPART,
	UM_EXPR_JSON,
	UM_EXPR_ITEM,
	UM_EXPR_BODY,
	UM_EXPR_CLAIM,     /* of a signature that is a JSON Web Token */
	UM_EXPR_SIGNATURE, /* another parameter of the signature header */
	UM_EXPR_CRC32,
	UM_EXPR_LOWER,
	UM_EXPR_MAC, /* with a key of source->mac; in challenges */
	UM_EXPR_JOIN,
	UM_EXPR_FIRST,
	UM_EXPR_SORTED_QUERY,
	/* The headers that a parameter of the signature names; in `signed`. */
	UM_EXPR_LISTED,
};

/* Zeroed to begin with: NONE. */
struct um_expr {
	enum um_expr_kind kind;
	/* A literal, a name, or what is between the values of a join or list. */
	char *text;
	/* The names of a header; the fields that a sorted query leaves out. */
	struct um_strlist names;
	struct um_expr_json {
		struct um_pointer at;
		/* Selects the element of an array whose `where` is `is`. */
		bool selects;
		struct um_pointer where, value;
		char *is;
		/* The text found is JSON itself, and this points into it. */
		bool is_text;
		struct um_pointer inside;
	} json;
	size_t parts_len;
	struct um_expr *parts;
};

/* Frees its members and makes it NONE. */
void um_expr_free(struct um_expr *expr);

/* The parameters of a signature header: `t=…,v1=…,v1=…`, `v1,… v1a,…`. */
struct um_params {
	size_t len;
	struct um_field param[UM_PARAMS_MAX]; /* points into the header */
};

/* Where expressions take their values from. */
struct um_source {
	const struct um_parsed *parsed;
	const struct um_json_node *item; /* the element of `events`, or NULL */
	const struct um_params *params;  /* of the signature, or NULL */
	/* The claims of a signature that is a token, where it is right. */
	struct um_json_node *const *claims;
	/*
	 * The provider also signs, and this delivery has a token alone: nothing
	 * that it says is proven.
	 */
	bool has_only_token;
	/* Makes MACs for the answer to a challenge, perhaps of digits only. */
	const struct um_verifier *mac;
	bool mac_of_digits;
};

/* What an expression is for one delivery. */
struct um_value {
	struct um_str text; /* in the delivery, in the description, or `made` */
	struct um_buf made;
	/* A value in it has the separator that stands between it and the next. */
	bool is_ambiguous;
	/*
	 * It is there, and nobody knows what it says: there twice, say. Other
	 * values that are BAD are readable, and no text: an object, say.
	 */
	bool is_unreadable;
	/* Of what was BAD: where in the JSON, if it is JSON; and why. */
	const struct um_pointer *bad_at;
	const char *bad_reason;
};

/* Makes the value a text of the delivery or of the description. */
static inline enum um_found
um_value_take(struct um_value *value, struct um_str text)
{
	value->text = text;
	return text.len != 0 ? UM_FOUND : UM_ABSENT;
}

/* Makes it the text in value->made. */
static inline enum um_found
um_value_take_made(struct um_value *value)
{
	value->text = um_buf_str(&value->made);
	return value->made.failed ? UM_BAD : UM_FOUND;
}

/* The value has a text only where FOUND is returned. Free it in every case. */
enum um_found um_expr_eval(const struct um_expr *expr,
	const struct um_source *source, struct um_value *value);
void um_value_free(struct um_value *value);

/* Makes it one that cannot be read, for this reason. Returns BAD. */
static inline enum um_found
um_value_unreadable(struct um_value *value, const char *reason)
{
	value->is_unreadable = true;
	value->bad_reason = reason;
	return UM_BAD;
}

/* The value at a place of the document `root`, which may be NULL. */
enum um_found um_expr_find(const struct um_expr_json *json,
	const struct um_json_node *root, struct um_value *value);

/*
 * Whether the text is 1 to 64 hexadecimal digits. No other text is signed for a
 * sender who has proved nothing.
 */
bool um_expr_is_digits(struct um_str text);

#endif
