/* SPDX-License-Identifier: MIT */
#include "config/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/str.h"

/* Also where the variable is there twice, of which getenv() knows one. */
static bool
take(const char *name, char **out)
{
	const char *value = getenv(name);
	size_t len = strlen(name);

	*out = value != NULL ? strdup(value) : NULL;
	for (char **entry = environ; value != NULL && *entry != NULL; entry++)
		if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
			explicit_bzero(*entry + len + 1,
				strlen(*entry + len + 1));
	unsetenv(name);
	return value == NULL || *out != NULL;
}

bool
um_environment_take(struct um_environment *out)
{
	bool keys = take(UM_ENVIRONMENT_KEYS, &out->keys);

	return take(UM_ENVIRONMENT_DATABASE, &out->database_url) && keys;
}

void
um_environment_free(struct um_environment *environment)
{
	um_wipe_free_text(environment->keys);
	um_wipe_free_text(environment->database_url);
	*environment = (struct um_environment){ 0 };
}
