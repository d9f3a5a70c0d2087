/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: getaddrinfo(3) that takes half a minute for one name, as it
 * does with a resolver that does not answer.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

typedef int lookup(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **res);

int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
	struct addrinfo **res)
{
	lookup *next;

	if (node != NULL && strcmp(node, "hang.example") == 0) {
		sleep(30);
		return EAI_AGAIN;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
	return next(node, service, hints, res);
}
