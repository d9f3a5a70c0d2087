/* SPDX-License-Identifier: MIT */
/* What `create` is called with, read and checked as the packages do. */
#ifndef UM_CREATE_REQUEST_H
#define UM_CREATE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "api/create_form.h"
#include "api/expected.h"
#include "api/request.h"
#include "config/provider.h"

struct um_create_request {
	struct um_api_owner owner; /* the id only if it has_id */
	bool has_id;
	char provider[UM_PROVIDER_MAX + 1];
	enum um_kind kind;
	struct um_str item, resume_key, target_url, checkout, name, client_id,
		traceparent;       /* .ptr NULL: there is none */
	int64_t ttl_ms, verify_ms; /* verify_ms -1: there is none */
	bool pkce, exclusive, subscription, can_recheck, same_client;

	struct um_create_form asked;
	struct um_expected expected;
	/* Of what is asked for, and of all of it but the trace. */
	uint8_t request[UM_DIGEST_LEN], content[UM_DIGEST_LEN];
};

/*
 * Reads all members of the request but `id`, which the caller has read into
 * create->owner. What is wrong is a fault of the request. The caller frees *create
 * with um_create_request_free() in every case.
 */
void um_create_request_read(struct um_create_request *create,
	struct um_api_request *request, const struct um_context *context);

void um_create_request_free(struct um_create_request *create);

#endif
