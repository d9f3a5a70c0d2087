/* SPDX-License-Identifier: MIT */
/*
 * A file in memory (memfd_create(2)) that is written through a mapping and
 * read through a descriptor.
 */
#ifndef UM_MEMFILE_H
#define UM_MEMFILE_H

#include "core/str.h"

struct um_memfile;

/* A file of `size` bytes, a multiple of the page size. NULL: see *err. */
struct um_memfile *um_memfile_new(size_t size, struct um_error *err);

/*
 * Returns a descriptor from which exactly these bytes, at most `size`, can be
 * read before the end of the file, or -1. The file owns it.
 */
int um_memfile_put(struct um_memfile *file, struct um_str bytes);

/*
 * The descriptor was closed elsewhere: drops the file with its content. The
 * next um_memfile_put() begins a new one.
 */
void um_memfile_closed(struct um_memfile *file);

/*
 * Overwrites the `len` bytes of the last um_memfile_put() with zeros, and
 * returns the memory of a large file to the system.
 */
void um_memfile_wipe(struct um_memfile *file, size_t len);

/* NULL is fine. */
void um_memfile_free(struct um_memfile *file);

#endif
