/* SPDX-License-Identifier: MIT */
/* What a provider sent: a delivery to its webhook, or a browser's return. */
#ifndef UM_DELIVERY_H
#define UM_DELIVERY_H

#include <stdint.h>

#include "core/str.h"

/* As it came. Header names as in HTTP, any case. */
struct um_delivery {
	struct um_str query;
	struct um_str content_type;
	struct um_str body;
	/* The header's value, or NULL; several of one name joined by ", ". */
	const char *(*header)(const char *name, void *arg);
	void *arg;
	int64_t now_ms; /* Unix time */
};

#endif
