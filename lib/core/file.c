/* SPDX-License-Identifier: MIT */
#include "core/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
