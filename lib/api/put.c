/* SPDX-License-Identifier: MIT */
#include "api/put.h"

#include <stdio.h>
#include <time.h>

#include "core/json_put.h"

void
um_api_put_text(struct um_buf *json, const char *name, const char *text)
{
	um_json_put_key(json, um_str(name));
	if (text != NULL)
		um_json_put_string(json, um_str(text));
	else
		um_json_put_null(json);
}

void
um_api_time_text(char out[static UM_API_TIME_MAX], int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char date[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, UM_API_TIME_MAX, "%s.%03dZ", date, (int)(ms % 1000));
}

void
um_api_put_time(struct um_buf *json, const char *name, int64_t ms)
{
	char text[UM_API_TIME_MAX];

	um_api_time_text(text, ms);
	um_json_put_member(json, name, um_str(text));
}

void
um_api_put_id(struct um_buf *json, const char *name,
	const uint8_t id[static UM_UUID_LEN])
{
	char text[UM_UUID_TEXT_LEN + 1];

	um_uuid_format(text, id);
	um_json_put_member(json, name, um_str(text));
}
