/* SPDX-License-Identifier: MIT */
#include "operate/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <libpq-fe.h>
#include <openssl/rand.h>

#include "api/api_keys.h"
#include "config/api.h"
#include "core/clock.h"
#include "core/timestamp.h"
#include "crypto/keys.h"
#include "crypto/link.h"
#include "operate/nginx_pages.h"
#include "server/metrics_file.h"

#define CONNINFO_MAX 4096
#define SQL_MAX 4096
#define YEAR_MS (INT64_C(366) * 86400000)

/* Each line of a key is behind its name where several keys are asked for. */
static void
begin_line(const char *name)
{
	if (name != NULL)
		printf("%s ", name);
}

static void
print_providers(const char *name, const struct um_config *config)
{
	for (size_t i = 0; i < config->providers_len; i++) {
		const struct um_provider *provider = &config->providers[i];

		begin_line(name);
		printf("%s %s %" PRId64 "\n", provider->name,
			um_kind_words[provider->kind],
			provider->grace_ms / 1000);
	}
}

static void
print_programs(const char *name, const struct um_config *config)
{
	for (size_t i = 0; i < UM_METRICS_PROGRAMS_LEN; i++) {
		const char *program = um_metrics_program_name(i);

		if (um_config_needs(config, program)) {
			begin_line(name);
			puts(program);
		}
	}
}

static void
print_openid(const char *name, const struct um_openid *openid)
{
	const struct {
		const char *key, *value;
	} values[] = {
		{ "issuer", openid->issuer },
		{ "client_id", openid->client_id },
		{ "authorization_endpoint", openid->authorization_endpoint },
		{ "jwks_file", openid->jwks_file },
		{ "refresh_file", openid->refresh_file },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].value != NULL) {
			begin_line(name);
			printf("%s %s\n", values[i].key, values[i].value);
		}
	}
}

static bool
print_key(const char *name, const char *key, const struct um_config *config,
	struct um_error *err)
{
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
		print_providers(name, config);
	else if (strcmp(key, "programs") == 0)
		print_programs(name, config);
	else if (strcmp(key, "openid") == 0)
		print_openid(name, &config->openid);
	else if (i == len)
		return um_error(err, "the configuration has no key %s", key);
	else if (values[i].value != NULL) {
		begin_line(name);
		puts(values[i].value);
	}
	return true;
}

bool
um_query_config(char **keys, size_t len, const struct um_config *config,
	struct um_error *err)
{
	bool ok = true;

	for (size_t i = 0; i < len && ok; i++)
		ok = print_key(len > 1 ? keys[i] : NULL, keys[i], config, err);
	return ok;
}

bool
um_query_compared(const char *day, const struct um_config *config,
	struct um_error *err)
{
	int64_t now = um_clock_wall_ms(), compared;
	char text[32];

	snprintf(text, sizeof(text), "%.11sT00:00:00Z", day);
	if (day[0] != '\0'
		&& (strlen(day) != 10
			|| !um_timestamp_parse(&now, um_str(text),
				UM_TIMESTAMP_RFC3339)))
		return um_error(err, "%.32s is not a day, such as 2026-11-28",
			day);
	for (size_t i = 0; i < config->providers_len; i++) {
		const struct um_provider *provider = &config->providers[i];
		struct tm tm;
		time_t seconds;

		if (provider->spec == NULL
			|| !um_spec_compared(provider->spec, &compared)
			|| now - compared <= YEAR_MS)
			continue;
		seconds = (time_t)(compared / 1000);
		gmtime_r(&seconds, &tm);
		strftime(text, sizeof(text), "%Y-%m-%d", &tm);
		printf("%s %s %s\n", provider->name, text,
			provider->spec->path);
	}
	return true;
}

bool
um_query_keys(const char *path, struct um_error *err)
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

bool
um_query_api_config(const char *path, struct um_error *err)
{
	struct um_config *config;

	if (!um_config_load_api(&config, path, err))
		return false;
	printf("base_url %s\napi_keys_file %s\n", config->base_url,
		config->api_keys_file);
	if (config->keys_file != NULL)
		printf("keys_file %s\n", config->keys_file);
	if (config->log_file != NULL)
		printf("log_file %s\n", config->log_file);
	um_config_free(config);
	return true;
}

bool
um_query_api_keys(const char *path, struct um_error *err)
{
	struct um_api_keys *keys;

	if (!um_api_keys_load(&keys, path, err))
		return false;
	um_api_keys_free(keys);
	return true;
}

bool
um_query_state(const char *provider, const struct um_config *config,
	struct um_error *err)
{
	uint8_t id[UM_UUID_LEN];
	char text[UM_LINK_LEN + 1];
	struct um_keys *keys;
	bool ok;

	if (um_config_provider(config, um_str(provider)) == NULL)
		return um_error(err, "the configuration has no provider %s",
			provider);
	if (!um_config_load_keys(&keys, config, err))
		return false;
	ok = (RAND_bytes(id, sizeof(id)) == 1
		     && um_link_mint(text, id, keys, provider))
		|| um_error(err, "OpenSSL failed");
	if (ok)
		puts(text);
	um_keys_free(keys);
	return ok;
}

static void
print_rows(const PGresult *result)
{
	for (int row = 0; row < PQntuples(result); row++)
		for (int field = 0; field < PQnfields(result); field++)
			printf("%s%c", PQgetvalue(result, row, field),
				field + 1 < PQnfields(result) ? ' ' : '\n');
}

/* The names of the options override those of the URL before them. */
PGconn *
um_query_connect_database(const struct um_config *config)
{
	static const char *const names[] = { "dbname", "connect_timeout",
		"application_name", "client_encoding", NULL };
	const char *const values[] = { config->database_url, "10",
		"urlmode check", "UTF8", NULL };

	return PQconnectdbParams(names, values, 1);
}

bool
um_query_sql(const struct um_config *config, struct um_error *err)
{
	char sql[SQL_MAX + 1];
	size_t len = fread(sql, 1, SQL_MAX, stdin);
	PGconn *conn = um_query_connect_database(config);
	PGresult *result = NULL;
	bool ok = PQstatus(conn) == CONNECTION_OK;

	sql[len] = '\0';
	if (ok)
		result = PQexec(conn, sql);
	ok = ok && PQresultStatus(result) == PGRES_TUPLES_OK;
	if (ok)
		print_rows(result);
	else
		um_error(err, "%s", PQerrorMessage(conn));
	PQclear(result);
	PQfinish(conn);
	return ok;
}

bool
um_query_pages(const struct um_config *config, struct um_error *err)
{
	struct um_buf text = { 0 };
	bool ok;

	um_nginx_pages_put(&text, &config->brand);
	ok = !text.failed && fwrite(text.ptr, 1, text.len, stdout) == text.len;
	um_buf_free(&text);
	return ok || um_error(err, "%s", strerror(ENOMEM));
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
bool
um_query_conninfo(struct um_error *err)
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

int
um_query_connect(const char *path, struct um_error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		um_error(err, "%s: %s", path, strerror(ENAMETOOLONG));
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0
		&& connect(fd, (struct sockaddr *)&address, sizeof(address))
			== 0)
		return fd;
	um_error(err, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Connects, and closes without a word. */
bool
um_query_socket(const char *path, struct um_error *err)
{
	int fd = um_query_connect(path, err);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
