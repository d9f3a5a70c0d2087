/* SPDX-License-Identifier: MIT */
/* The deliveries of build/deliveries, for the tests of the descriptions. */
#ifndef DELIVERIES_H
#define DELIVERIES_H

#include "support.h"

#include <jansson.h>

#include "description/spec_load.h"

#define DELIVERY_FILES_MAX 64

/* The name of each file there, without the .json; NULL after the last. */
const char *delivery_file(size_t i);

/* One file, and what of it a description was loaded with. */
struct provider {
	const char *name;
	json_t *root;
	json_t *description; /* as it stands in its file */
	char path[128];      /* of that file */
	int64_t now_ms;
};

/* Fails for a key that means nothing in such a file. */
void deliveries_check(const char *file, json_t *root);

void provider_open(struct provider *provider, const char *name);
void provider_close(struct provider *provider);

/*
 * The description with the site's secrets; with `secrets`, with these in
 * their place. Fails the test when it is refused.
 */
struct um_spec *provider_load(const struct provider *provider);
struct um_spec *provider_load_with(const struct provider *provider,
	const json_t *secrets);
/* The same, refused or not. */
bool provider_try(const struct provider *provider, const json_t *secrets,
	struct um_spec **out, struct um_error *err);

/* A delivery as it stands in the file, and as it may be changed. */
struct delivery_copy {
	json_t *headers;     /* a copy */
	const char *changed; /* a header that says this instead, or NULL */
	const char *changed_to;
	char *query, *content_type, *body;
	size_t body_len;
	int64_t now_ms;
	bool is_get; /* a challenge */
	struct um_reply
		*reply; /* receives the answer to a challenge, or NULL */
};

void delivery_copy_open(struct delivery_copy *copy,
	const struct provider *provider, const json_t *delivery);
void delivery_copy_close(struct delivery_copy *copy);

/* Reads it, as a delivery or as a return. */
enum um_verdict delivery_copy_read(const struct delivery_copy *copy,
	const struct um_spec *spec, bool is_return,
	struct um_event events[static UM_EVENTS_MAX], size_t *len);

/* How the files name an effect; um_explain_verdict() names a verdict. */
const char *effect_word(enum um_effect effect);

/* Fails unless the events are those that the delivery expects. */
void assert_events(const json_t *delivery, const struct um_event *events,
	size_t len);

#endif
