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

/* One that takes each value of its events from the body. */
#define WHOLE                                                                  \
	SIGNED "\"type\": {\"json\": \"/type\"},"                              \
	       "\"identity\": {\"json\": \"/id\"},"                            \
	       "\"elicitation\": {\"json\": \"/for\"},"                        \
	       "\"amount\": {\"from\": {\"json\": \"/amount\"},"               \
	       " \"as\": \"minor\"}, \"currency\": {\"json\": \"/currency\"}," \
	       "\"reference\": {\"json\": \"/reference\"},"                    \
	       "\"outcomes\": [{\"type\": \"paid\", \"effect\": \"paid\"}]}"

/* Loads a description; NULL and *err when it is refused. */
struct um_spec *describe_with(const char *text,
	const struct um_provider_env *env, struct um_error *err);
/* The same with SECRET; fails the test when it is refused. */
struct um_spec *describe(const char *text);

/* um_delivery's `header` when x-signature is the only one, and `arg` its value. */
const char *signature_header(const char *name, void *arg);

/* Signs the body with SECRET, and reads it. */
enum um_verdict read_signed(const struct um_spec *spec, struct um_str body,
	struct um_event events[static UM_EVENTS_MAX], size_t *len);

#endif
