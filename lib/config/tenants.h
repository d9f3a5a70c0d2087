/* SPDX-License-Identifier: MIT */
/* Who may use a provider: the member `tenants` of its entry. */
#ifndef UM_TENANTS_H
#define UM_TENANTS_H

#include <stdbool.h>

#include "core/conf.h"

/*
 * The tenants, separated by commas; an empty one is the rows without a tenant.
 * Without the member, which is for all, *out is NULL. The provider of a payment has
 * one at most. The caller frees *out in every case.
 */
bool um_tenants_read(char **out, const struct um_conf_loc *at, json_t *entry,
	bool is_payment);

#endif
