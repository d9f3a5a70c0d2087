/* SPDX-License-Identifier: MIT */
/* Descriptions that a test writes itself. */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include "description/spec_load.h"
#include "signing.h"
#include "support.h"

#define SECRET "secret"

/* How one begins whose deliveries are signed with SECRET, in x-signature. */
#define SIGNED                                                                 \
	"{\"name\": \"n\", \"documentation\": \"d\", \"verify\": [{"           \
	"\"algorithm\": \"hmac-sha256\", \"key\": {\"as\": \"utf8\"},"         \
	"\"signature\": {\"from\": {\"header\": \"x-signature\"},"             \
	" \"as\": \"hex\"}, \"signed\": [{\"body\": \"raw\"}]}],"              \
	"\"trust\": \"body\","

/* Loads a description; NULL and *err when it is refused. */
struct um_spec *describe_with(const char *text,
	const struct um_provider_env *env, struct um_error *err);
/* The same with SECRET; fails the test when it is refused. */
struct um_spec *describe(const char *text);

/* um_delivery's `header` when x-signature is the only one, and `arg` its value. */
const char *signature_header(const char *name, void *arg);

#endif
