/* SPDX-License-Identifier: MIT */
#include "api/wait_request.h"

#include <stdlib.h>
#include <string.h>

#include "core/encode.h"

int
um_wait_compare(const void *a, const void *b)
{
	const struct um_watched_element *left = a, *right = b;

	return memcmp(left->id, right->id, sizeof(left->id));
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
	most = len < UM_WAIT_READS_MAX ? len : UM_WAIT_READS_MAX;
	wait->reads = calloc(most + 1, sizeof(wait->reads[0]));
	wait->asks = calloc(most + 1, sizeof(wait->asks[0]));
	if (request->elements == NULL || wait->reads == NULL
		|| wait->asks == NULL) {
		um_reader_refuse(&request->root, "of", "out of memory");
		return;
	}
	while ((one = um_json_next(array, one)) != NULL) {
		struct um_reader reader = um_reader_element(&request->root,
			"of", one, request->elements_len);

		read_element(&request->elements[request->elements_len++], wait,
			&reader, context);
	}
	qsort(request->elements, len, sizeof(request->elements[0]),
		um_wait_compare);
	for (size_t i = 1; i < len; i++)
		if (um_wait_compare(&request->elements[i - 1],
			    &request->elements[i])
			== 0)
			um_reader_refuse(&request->root, "of",
				"of must not have an id twice");
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
	free(wait->reads);
	free(wait->asks);
	free(wait);
}
