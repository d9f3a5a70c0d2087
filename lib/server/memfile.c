/* SPDX-License-Identifier: MIT */
#include "server/memfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEPT 65536 /* bytes of memory that stay after um_memfile_wipe() */

struct um_memfile {
	size_t size;
	int fd;    /* -1: none is open */
	char *end; /* of the mapping; the bytes stand before it */
};

static bool
open_file(struct um_memfile *file)
{
	void *map = MAP_FAILED;

	file->fd = memfd_create("urlmode request", MFD_CLOEXEC);
	if (file->fd < 0)
		return false;
	if (ftruncate(file->fd, (off_t)file->size) == 0)
		map = mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			file->fd, 0);
	if (map == MAP_FAILED) {
		close(file->fd);
		file->fd = -1;
		return false;
	}
	file->end = (char *)map + file->size;
	return true;
}

struct um_memfile *
um_memfile_new(size_t size, struct um_error *err)
{
	struct um_memfile *file = calloc(1, sizeof(*file));

	if (file == NULL) {
		um_error(err, "out of memory");
		return NULL;
	}
	file->size = size;
	if (!open_file(file)) {
		um_error(err, "memfd_create: %s", strerror(errno));
		free(file);
		return NULL;
	}
	return file;
}

int
um_memfile_put(struct um_memfile *file, struct um_str bytes)
{
	if (bytes.len > file->size || (file->fd < 0 && !open_file(file)))
		return -1;
	memcpy(file->end - bytes.len, bytes.ptr, bytes.len);
	if (lseek(file->fd, (off_t)(file->size - bytes.len), SEEK_SET) < 0)
		return -1;
	return file->fd;
}

void
um_memfile_closed(struct um_memfile *file)
{
	munmap(file->end - file->size, file->size);
	file->fd = -1;
}

void
um_memfile_wipe(struct um_memfile *file, size_t len)
{
	explicit_bzero(file->end - len, len);
	if (len > KEPT)
		madvise(file->end - file->size, file->size - KEPT, MADV_REMOVE);
}

void
um_memfile_free(struct um_memfile *file)
{
	if (file == NULL)
		return;
	if (file->fd >= 0) {
		close(file->fd);
		um_memfile_closed(file);
	}
	free(file);
}
