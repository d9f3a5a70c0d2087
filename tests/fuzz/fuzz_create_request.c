/* SPDX-License-Identifier: MIT */
/*
 * The body of a request to the api: whatever it holds, it is read or refused with
 * a sentence that is text, and what is read has digests that do not change.
 */
#include "fuzz.h"

#include <string.h>

#include "api/create_request.h"

static struct um_keys *keys;

static void
unload(void)
{
	um_keys_free(keys);
}

static void
random_bytes(void *out, size_t len)
{
	memset(out, 1, len);
}

static void
read_once(struct um_create_request *create, struct um_api_request *request,
	struct um_exchange *ex, struct um_str body)
{
	static const struct um_config config;
	const struct um_context context = { .keys = keys,
		.config = &config,
		.random = random_bytes };

	*create = (struct um_create_request){ .has_id = false };
	*request = (struct um_api_request){ .ex = ex };
	request->json = um_json_parse_with_nul(body, UM_JSON_VALUES_MAX, NULL);
	request->root = um_reader_root(request->json, &request->fault);
	um_create_request_read(create, request, &context);
	um_api_end(request);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str body = { (const char *)data, size };
	struct um_create_request create, again;
	struct um_api_request request, second;
	struct um_exchange ex = { .refusal = UM_REFUSAL_NONE };
	struct um_error err;

	if (keys == NULL) {
		HOLDS(um_keys_parse(&keys,
			"1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "keys",
			&err));
		atexit(unload);
	}
	read_once(&create, &request, &ex, body);
	read_once(&again, &second, &ex, body);
	HOLDS(um_str_is_text(um_str(request.fault.message)));
	HOLDS(um_str_is_text(um_str(request.fault.member)));
	if (request.fault.message[0] == '\0') {
		HOLDS(create.provider[0] != '\0');
		HOLDS(create.owner.subject.len != 0);
		HOLDS(memcmp(create.request, again.request,
			      sizeof(create.request))
			== 0);
		HOLDS(memcmp(create.content, again.content,
			      sizeof(create.content))
			== 0);
	} else {
		HOLDS(ex.response.status == 400);
	}
	um_response_free(&ex.response);
	um_create_request_free(&create);
	um_create_request_free(&again);
	um_api_request_free(&request);
	um_api_request_free(&second);
	return 0;
}
