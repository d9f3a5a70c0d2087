/* SPDX-License-Identifier: MIT */
#include "client/handle.h"

#include <stdlib.h>
#include <string.h>

#include "client/connection.h"
#include "core/clock.h"

bool
um_handle_open(struct um_wait **out, const char *database_url,
	const char *keys_file, const char *base_url, struct um_error *err)
{
	struct um_wait *wait = calloc(1, sizeof(*wait));

	*out = NULL;
	if (wait == NULL)
		return um_error(err, "out of memory");
	wait->keys_file = strdup(keys_file);
	wait->database_url = strdup(database_url);
	wait->base_url = strdup(base_url);
	if (wait->keys_file == NULL || wait->database_url == NULL
		|| wait->base_url == NULL) {
		um_error(err, "out of memory");
		goto fail;
	}
	if (!um_keys_load(&wait->keys, keys_file, err)
		|| !um_handle_connect(wait,
			um_monotonic_ms() + UM_HANDLE_CALL_MS, err))
		goto fail;
	wait->keys_version = um_keys_version(wait->keys);
	*out = wait;
	return true;
fail:
	um_handle_close(wait);
	return false;
}

void
um_handle_close(struct um_wait *wait)
{
	if (wait == NULL)
		return;
	PQfinish(wait->conn);
	um_keys_free(wait->keys);
	um_wipe_free_text(wait->database_url);
	free(wait->keys_file);
	free(wait->base_url);
	free(wait);
}

bool
um_handle_connect(struct um_wait *wait, int64_t deadline, struct um_error *err)
{
	return wait->conn != NULL
		|| um_connection_open(&wait->conn, wait->database_url, deadline,
			err);
}

void
um_handle_refresh_keys(struct um_wait *wait)
{
	struct um_error refused = { "" };
	struct um_keys *keys;

	if (!um_file_changed(&wait->keys_version, wait->keys_file)
		|| !um_keys_load(&keys, wait->keys_file, &refused))
		return;
	um_keys_free(wait->keys);
	wait->keys = keys;
}
