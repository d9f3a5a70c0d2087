/* SPDX-License-Identifier: MIT */
#include "server/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "config/config.h"
#include "crypto/keys.h"
#include "http/nginx_pages.h"

#define CONNINFO_MAX 4096

bool
um_query_is_meant(int argc, char **argv)
{
	if (argc == 3)
		return strcmp(argv[1], "--config") == 0
			|| strcmp(argv[1], "--keys") == 0
			|| strcmp(argv[1], "--socket") == 0;
	return argc == 2
		&& (strcmp(argv[1], "--conninfo") == 0
			|| strcmp(argv[1], "--pages") == 0);
}

static void
print_providers(const struct um_config *config)
{
	for (size_t i = 0; i < config->providers_len; i++) {
		const struct um_provider *provider = &config->providers[i];

		printf("%s %s %" PRId64 "\n", provider->name,
			um_kind_name(provider->kind),
			provider->grace_ms / 1000);
	}
}

static bool
answer_config(const char *key, const char *path, struct um_error *err)
{
	struct um_config *config;
	bool ok = true;

	if (!um_config_load(&config, path, err))
		return false;
	const struct {
		const char *key, *value;
	} values[] = {
		{ "base_url", config->base_url },
		{ "keys_file", config->keys_file },
		{ "database_url", config->database_url },
		{ "user_check", um_user_check_name(config->user_check) },
		{ "log_file", config->log_file },
		{ "metrics_file", config->metrics_file },
		{ "providers_dir", config->providers_dir },
		{ "pages", config->brand.name },
	};
	size_t i = 0, len = sizeof(values) / sizeof(values[0]);

	while (i < len && strcmp(values[i].key, key) != 0)
		i++;
	if (strcmp(key, "providers") == 0)
		print_providers(config);
	else if (i == len)
		ok = um_error(err, "--config: no key of this name");
	else if (values[i].value != NULL)
		puts(values[i].value);
	um_config_free(config);
	return ok;
}

static bool
answer_keys(const char *path, struct um_error *err)
{
	struct um_keys *keys;

	if (!um_keys_load(&keys, path, err))
		return false;
	uint8_t minting = um_keys_minting(keys)->kid;

	printf("%u\n", (unsigned)minting);
	for (unsigned kid = 0; kid < UM_KEYS_MAX; kid++)
		if (kid != minting && um_keys_find(keys, (uint8_t)kid) != NULL)
			printf("%u\n", kid);
	um_keys_free(keys);
	return true;
}

static bool
answer_pages(const char *path, struct um_error *err)
{
	struct um_config *config;
	struct um_buf text = { 0 };
	bool ok;

	if (!um_config_load(&config, path, err))
		return false;
	um_nginx_pages_put(&text, &config->brand);
	ok = !text.failed && fwrite(text.ptr, 1, text.len, stdout) == text.len;
	um_buf_free(&text);
	um_config_free(config);
	return ok || um_error(err, "--pages: %s", strerror(ENOMEM));
}

/* A value with a line break would be more than one line. */
static bool
print_options(const PQconninfoOption *options)
{
	const PQconninfoOption *o;

	for (o = options; o->keyword != NULL; o++)
		if (o->val != NULL && strpbrk(o->val, "\r\n") != NULL)
			return false;
	for (o = options; o->keyword != NULL; o++)
		if (o->val != NULL)
			printf("%s=%s\n", o->keyword, o->val);
	return true;
}

/* What libpq says of a string that it refuses may quote a password. */
static bool
answer_conninfo(struct um_error *err)
{
	char text[CONNINFO_MAX];
	size_t len = fread(text, 1, sizeof(text) - 1, stdin);
	PQconninfoOption *options = NULL;
	bool ok;

	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	if (strlen(text) == len)
		options = PQconninfoParse(text, NULL);
	explicit_bzero(text, sizeof(text));
	ok = options != NULL && print_options(options);
	PQconninfoFree(options);
	return ok
		|| um_error(err,
			"not a connection URI or keyword string of libpq, "
			"of one line");
}

/* Connects, and closes without a word. */
static bool
answer_socket(const char *path, struct um_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	bool ok = false;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return um_error(err, "%s: %s", path, strerror(ENAMETOOLONG));
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		ok = connect(fd, (struct sockaddr *)&address, sizeof(address))
			== 0;
	if (!ok)
		um_error(err, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

bool
um_query_answer(char **argv, const char *path, struct um_error *err)
{
	if (strcmp(argv[1], "--config") == 0)
		return answer_config(argv[2], path, err);
	if (strcmp(argv[1], "--keys") == 0)
		return answer_keys(argv[2], err);
	if (strcmp(argv[1], "--socket") == 0)
		return answer_socket(argv[2], err);
	if (strcmp(argv[1], "--pages") == 0)
		return answer_pages(path, err);
	return answer_conninfo(err);
}
