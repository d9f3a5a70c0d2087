/* SPDX-License-Identifier: MIT */
#include "api/wait_request.h"

#include <stdlib.h>
#include <string.h>

#include "core/encode.h"

/* Where the index has the element with this id, or has room for it. */
static uint16_t *
look_up(const struct um_wait *wait, const uint8_t id[static UM_UUID_LEN])
{
	const struct um_watched_element *elements = wait->request.elements;
	size_t at = um_uuid_hash(id);

	for (;; at++) {
		uint16_t *place = &wait->index[at & (wait->index_len - 1)];

		if (*place == 0
			|| memcmp(elements[*place - 1].id, id, UM_UUID_LEN)
				== 0)
			return place;
	}
}

struct um_watched_element *
um_wait_find(const struct um_wait *wait, const uint8_t id[static UM_UUID_LEN])
{
	const uint16_t *place = look_up(wait, id);

	return *place != 0 ? &wait->request.elements[*place - 1] : NULL;
}

/* `can`: what the caller can be asked for. */
static void
read_can(struct um_watched_element *element, struct um_reader *reader)
{
	const struct um_json_node *array, *one = NULL;

	if (!um_reader_array(reader, "can", UM_OPTIONAL, 0, 2, &array))
		return;
	while ((one = um_json_next(array, one)) != NULL) {
		if (um_json_string_eq(one, um_str("check")))
			element->can_check = true;
		else if (um_json_string_eq(one, um_str("recheck")))
			element->can_recheck = true;
		else
			um_reader_refuse(reader, "can",
				"can must be a list of check and recheck");
	}
}

static void
read_element(struct um_watched_element *element, struct um_wait *wait,
	struct um_reader *reader, const struct um_context *context)
{
	struct um_api_owner owner;
	struct um_str seen;

	um_reader_uuid(reader, "id", UM_REQUIRED, element->id);
	um_api_read_subject(&wait->request, reader, context, &owner);
	memcpy(element->binding, owner.binding, sizeof(element->binding));
	if (um_reader_text(reader, "seen", UM_OPTIONAL, 1, 64, &seen))
		element->has_seen = um_base64url_decode(element->seen,
			sizeof(element->seen), seen);
	read_can(element, reader);
	um_reader_end(reader);
}

static void
read_of(struct um_wait *wait, const struct um_context *context)
{
	struct um_api_request *request = &wait->request;
	const struct um_json_node *array, *one = NULL;
	size_t len = 0, most;

	if (!um_reader_array(&request->root, "of", UM_REQUIRED, 1,
		    UM_WAIT_OF_MAX, &array))
		return;
	while ((one = um_json_next(array, one)) != NULL)
		len++;
	request->elements = calloc(len + 1, sizeof(request->elements[0]));
	for (wait->index_len = 2; wait->index_len < 2 * len;)
		wait->index_len *= 2;
	wait->index = calloc(wait->index_len, sizeof(wait->index[0]));
	most = len < UM_WAIT_READS_MAX ? len : UM_WAIT_READS_MAX;
	wait->reads = calloc(most + 1, sizeof(wait->reads[0]));
	wait->asks = calloc(most + 1, sizeof(wait->asks[0]));
	if (request->elements == NULL || wait->index == NULL
		|| wait->reads == NULL || wait->asks == NULL) {
		um_reader_refuse(&request->root, "of", "out of memory");
		return;
	}
	while ((one = um_json_next(array, one)) != NULL) {
		struct um_reader reader = um_reader_element(&request->root,
			"of", one, request->elements_len);

		read_element(&request->elements[request->elements_len++], wait,
			&reader, context);
	}
	for (size_t i = 0; i < len; i++) {
		uint16_t *place = look_up(wait, request->elements[i].id);

		if (*place != 0)
			um_reader_refuse(&request->root, "of",
				"of must not have an id twice");
		*place = (uint16_t)(i + 1);
	}
}

void
um_wait_read(struct um_wait *wait, const struct um_context *context)
{
	int64_t for_ms = UM_WAIT_FOR_MAX_MS;

	read_of(wait, context);
	um_reader_int(&wait->request.root, "for_ms", UM_OPTIONAL, 0,
		UM_WAIT_FOR_MAX_MS, &for_ms);
	wait->ends_at = context->monotonic_ms + for_ms;
}

void
um_wait_free(void *own)
{
	struct um_wait *wait = own;

	um_api_request_free(&wait->request);
	um_buf_free(&wait->answer);
	for (size_t i = 0; i < wait->asks_len; i++)
		um_buf_free(&wait->asks[i].object);
	free(wait->request.elements);
	free(wait->index);
	free(wait->reads);
	free(wait->asks);
	free(wait);
}
