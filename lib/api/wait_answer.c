/* SPDX-License-Identifier: MIT */
#include "api/wait_answer.h"

#include "api/put.h"
#include "core/json_put.h"

static void
begin_object(struct um_wait *wait)
{
	if (wait->moved++ != 0)
		um_buf_puts(&wait->answer, ",");
}

void
um_wait_put_error(struct um_wait *wait,
	const struct um_watched_element *element, enum um_api_error error)
{
	begin_object(wait);
	um_json_put_begin(&wait->answer);
	um_api_put_id(&wait->answer, "id", element->id);
	um_json_put_member(&wait->answer, "error",
		um_str(um_api_error_code(error)));
	um_json_put_end(&wait->answer);
}

bool
um_wait_has_room(struct um_wait *wait, size_t len)
{
	if (wait->moved == 0 || wait->answer.len + len < UM_WAIT_ANSWER_MAX)
		return true;
	wait->is_full = true;
	return false;
}

void
um_wait_put(struct um_wait *wait, struct um_str object)
{
	begin_object(wait);
	um_buf_put(&wait->answer, object.ptr, object.len);
	um_json_put_end(&wait->answer);
}

void
um_wait_put_answer(struct um_buf *json, const struct um_wait *wait)
{
	um_json_put_key(json, um_str("elicitations"));
	um_buf_puts(json, "[");
	um_buf_put(json, wait->answer.ptr, wait->answer.len);
	um_buf_puts(json, "]");
	um_json_put_end(json);
	json->failed |= wait->answer.failed;
}
