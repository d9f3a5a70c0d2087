/* SPDX-License-Identifier: MIT */
/* The part of the configuration that says whose pages these are. */
#ifndef UM_BRAND_CONFIG_H
#define UM_BRAND_CONFIG_H

#include <stdbool.h>

#include <jansson.h>

#include "core/conf.h"
#include "http/brand.h"

#define UM_LOGO_MAX 6144 /* bytes of the file */

/*
 * Reads the object `pages`, which stands at `at`; NULL is fine and means none.
 * A logo that could do anything but draw, a colour with too little contrast and
 * an address that leads elsewhere than the configuration allows are refused.
 * Free the brand in every case.
 */
bool um_brand_load(struct um_brand *brand, const struct um_conf_loc *at,
	json_t *object);
void um_brand_free(struct um_brand *brand);

#endif
