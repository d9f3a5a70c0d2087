/* SPDX-License-Identifier: MIT */
#include "server/issuer_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "app/signin.h"

bool
um_issuer_keys_look(struct um_context *context, const struct um_exchange *ex,
	struct um_file_version *seen, struct um_error *err)
{
	const char *path = context->config->openid.jwks_file;
	struct um_jwks *jwks;

	if (path == NULL
		|| (!um_str_is(ex->request.path, UM_SIGNIN_ROUTE)
			&& !um_str_is(ex->request.path,
				UM_SIGNIN_CONSOLE_ROUTE)))
		return true;
	if (!um_file_changed(seen, path) && context->jwks != NULL)
		return true;
	if (!um_jwks_load(&jwks, path, err))
		return false;
	um_jwks_free(context->jwks);
	context->jwks = jwks;
	return true;
}

bool
um_issuer_keys_ask(const struct um_context *context,
	const struct um_exchange *ex, struct um_error *err)
{
	const char *path = context->config->openid.refresh_file;
	struct stat st;
	bool ok;
	int fd;

	if (path == NULL || ex->refusal != UM_REFUSAL_UNKNOWN_SIGNING_KEY)
		return true;
	if (stat(path, &st) == 0
		&& context->now_ms / 1000 - st.st_mtim.tv_sec
			< UM_ISSUER_KEYS_PAUSE_S)
		return true;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		0600);
	ok = fd >= 0 && futimens(fd, NULL) == 0;
	if (!ok)
		um_error(err, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}
