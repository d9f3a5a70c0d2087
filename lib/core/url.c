/* SPDX-License-Identifier: MIT */
#include "core/url.h"

#include <stddef.h>
#include <string.h>

#define HTTPS "https://"
#define HTTP "http://"

const char *
um_url_authority_end(const char *url)
{
	static const char *const loopback[] = { "127.0.0.1", "localhost",
		"[::1]" };
	const char *host, *end;

	if (strncmp(url, HTTPS, strlen(HTTPS)) == 0) {
		host = url + strlen(HTTPS);
		end = host + strcspn(host, "/?#");
		return end != host
				&& host + strcspn(host, "/?#@\\ \r\n\t") == end
			? end
			: NULL;
	}
	if (strncmp(url, HTTP, strlen(HTTP)) != 0)
		return NULL;
	host = url + strlen(HTTP);
	for (size_t i = 0; i < sizeof(loopback) / sizeof(loopback[0]); i++) {
		size_t len = strlen(loopback[i]);

		if (strncmp(host, loopback[i], len) != 0)
			continue;
		end = host + len;
		if (end[0] == ':' && end[1] >= '0' && end[1] <= '9')
			end += 1 + strspn(end + 1, "0123456789");
		if (end[0] == '\0' || strchr("/?#", end[0]) != NULL)
			return end;
	}
	return NULL;
}
