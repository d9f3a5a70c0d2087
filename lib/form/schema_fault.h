/* SPDX-License-Identifier: MIT */
/* The first mistake in JSON: where it is (RFC 6901), and what must be there. */
#ifndef UM_SCHEMA_FAULT_H
#define UM_SCHEMA_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

/* Begins zeroed, at the root. */
struct um_schema_fault {
	char pointer[80];
	char must[152]; /* the rest of a sentence about it */
};

/*
 * Moves the place to a member of it, of whose name the first bytes are said. Returns
 * what um_schema_leave() takes to move back.
 */
size_t um_schema_enter(struct um_schema_fault *fault, struct um_str name);
void um_schema_leave(struct um_schema_fault *fault, size_t before);

/* Says what must be at the place. Always false. */
__attribute__((format(printf, 2, 3))) bool
um_schema_refuse_here(struct um_schema_fault *fault, const char *format, ...);

/* The same at another place. */
__attribute__((format(printf, 3, 4))) bool
um_schema_refuse(struct um_schema_fault *fault, const char *pointer,
	const char *format, ...);

#endif
