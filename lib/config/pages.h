/* SPDX-License-Identifier: MIT */
/* The part `pages` of the configuration: whose pages these are. */
#ifndef UM_PAGES_H
#define UM_PAGES_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "http/layout.h"

/*
 * Reads the object at `at`; NULL stands for an empty one. Refuses a colour with
 * too little contrast, and an address that leads elsewhere than the
 * configuration allows. The caller frees the brand in every case.
 */
bool um_pages_load(struct um_brand *brand, const struct um_conf_loc *at,
	json_t *object);
void um_pages_free(struct um_brand *brand);

#endif
