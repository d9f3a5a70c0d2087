/* SPDX-License-Identifier: MIT */
/* Members that many answers have. */
#ifndef UM_API_PUT_H
#define UM_API_PUT_H

#include <stdint.h>

#include "core/str.h"
#include "core/uuid.h"

/* A text, or null. */
void um_api_put_text(struct um_buf *json, const char *name, const char *text);
#define UM_API_TIME_MAX 64 /* with NUL */
/* An instant, of Unix milliseconds, as RFC 3339 has it. */
void um_api_time_text(char out[static UM_API_TIME_MAX], int64_t ms);
void um_api_put_time(struct um_buf *json, const char *name, int64_t ms);
/* A UUID. */
void um_api_put_id(struct um_buf *json, const char *name,
	const uint8_t id[static UM_UUID_LEN]);

#endif
