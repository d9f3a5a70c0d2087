/* SPDX-License-Identifier: MIT */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
um_file_read(struct um_buf *out, const char *path, size_t max,
	struct um_error *err)
{
	FILE *f = fopen(path, "re");
	char chunk[BUFSIZ];
	size_t len;
	bool ok;

	if (f == NULL)
		return um_error(err, "%s: %s", path, strerror(errno));
	setvbuf(f, NULL, _IONBF, 0);
	errno = 0;
	while (out->len <= max
		&& (len = fread(chunk, 1, sizeof(chunk), f)) != 0)
		um_buf_put(out, chunk, len);
	explicit_bzero(chunk, sizeof(chunk));
	if (ferror(f))
		ok = um_error(err, "%s: %s", path, strerror(errno));
	else if (out->len > max)
		ok = um_error(err, "%s: over %zu bytes", path, max);
	else
		ok = !out->failed || um_error(err, "%s: out of memory", path);
	fclose(f);
	return ok;
}

bool
um_file_is_private(const struct stat *st, const char *path,
	struct um_error *err)
{
	return (st->st_mode & S_IRWXO) == 0
		|| um_error(err, "%s: others may read or write it; chmod o= it",
			path);
}

static bool
is_allowed(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

bool
um_file_can_append(const char *path, struct um_error *err)
{
	char *copy = strdup(path);
	bool can = copy != NULL
		&& (is_allowed(path, W_OK)
			|| (errno == ENOENT
				&& is_allowed(dirname(copy), W_OK | X_OK)));

	if (!can)
		um_error(err, "%s: %s", path, strerror(errno));
	free(copy);
	return can;
}

bool
um_file_write(int fd, struct um_str bytes)
{
	while (bytes.len != 0) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes.ptr += n;
		bytes.len -= (size_t)n;
	}
	return true;
}

struct um_file_version
um_file_version(const struct stat *st)
{
	return (struct um_file_version){ st->st_dev, st->st_ino, st->st_size,
		st->st_ctim };
}

static bool
is_other(struct um_file_version *seen, const struct um_file_version *now)
{
	if (now->dev == seen->dev && now->ino == seen->ino
		&& now->size == seen->size
		&& now->changed.tv_sec == seen->changed.tv_sec
		&& now->changed.tv_nsec == seen->changed.tv_nsec)
		return false;
	*seen = *now;
	return true;
}

bool
um_file_changed(struct um_file_version *seen, const char *path)
{
	struct um_file_version now;
	struct stat st;

	if (stat(path, &st) != 0)
		return false;
	now = um_file_version(&st);
	return is_other(seen, &now);
}

bool
um_file_changed_or_gone(struct um_file_version *seen, const char *path)
{
	struct um_file_version now = { 0 };
	struct stat st;

	if (stat(path, &st) == 0)
		now = um_file_version(&st);
	return is_other(seen, &now);
}
