/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "operate/query.h"

struct prefix {
	int family;
	uint8_t bytes[16];
	long bits;
};

/* An address alone is a prefix of all its bits. */
static bool
parse(struct prefix *prefix, const char *text)
{
	char copy[64];
	char *slash, *end = NULL;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return false;
	if ((slash = strchr(copy, '/')) != NULL)
		*slash = '\0';
	prefix->family = strchr(copy, ':') != NULL ? AF_INET6 : AF_INET;
	prefix->bits = prefix->family == AF_INET6 ? 128 : 32;
	if (slash != NULL)
		prefix->bits = strtol(slash + 1, &end, 10);
	return inet_pton(prefix->family, copy, prefix->bytes) == 1
		&& (end == NULL || *end == '\0');
}

static bool
has(const struct prefix *prefix, const struct prefix *address)
{
	if (prefix->family != address->family || prefix->bits > address->bits)
		return false;
	for (long bit = 0; bit < prefix->bits; bit++) {
		uint8_t mask = (uint8_t)(0x80 >> (bit % 8));

		if ((prefix->bytes[bit / 8] ^ address->bytes[bit / 8]) & mask)
			return false;
	}
	return true;
}

bool
um_query_address(const char *address, char **prefixes, size_t len,
	struct um_error *err)
{
	struct prefix one, prefix;

	if (!parse(&one, address))
		return um_error(err, "%.64s is not an address", address);
	for (size_t i = 0; i < len; i++)
		if (parse(&prefix, prefixes[i]) && has(&prefix, &one))
			return true;
	return um_error(err, "no prefix has %s", address);
}

bool
um_query_database_address(const struct um_config *config, struct um_error *err)
{
	PGconn *conn = um_query_connect_database(config);
	bool ok = PQstatus(conn) == CONNECTION_OK;

	if (!ok)
		um_error(err, "%s", PQerrorMessage(conn));
	else if (PQhostaddr(conn)[0] != '\0')
		puts(PQhostaddr(conn));
	PQfinish(conn);
	return ok;
}
