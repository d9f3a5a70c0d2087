/* SPDX-License-Identifier: MIT */
/*
 * One file a target. Built twice: with libFuzzer (`make fuzz`), and with
 * replay.c, which runs the corpus in the ordinary tests. Both run with the
 * top of the tree as folder.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What has to hold whatever comes in: aborts where it does not. */
#define HOLDS(condition) fuzz_holds((condition), __FILE__, __LINE__, #condition)
void fuzz_holds(bool holds, const char *file, int line, const char *what);

/*
 * The input up to the next line feed, or all of it; what is after it stays
 * in *rest. The copy ends with a NUL beyond its length, and is freed by the
 * caller: a step beyond its end is seen.
 */
struct um_str fuzz_line(struct um_str *rest);
/* All that is left, in a copy as well. */
struct um_str fuzz_rest(const struct um_str *rest);
void fuzz_free(struct um_str copy);

struct um_keys;
struct um_spec;

/* A key that no input knows, loaded once and freed at the end. */
const struct um_keys *fuzz_keys(void);

/* A description of tests/fuzz, loaded once and freed at the end. */
const struct um_spec *fuzz_spec(const char *path);

#endif
