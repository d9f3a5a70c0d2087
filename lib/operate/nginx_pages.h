/* SPDX-License-Identifier: MIT */
/*
 * nginx's own pages, as configuration for nginx: they must be there when no
 * program is. nginx/urlmode/pages.conf is what this makes without a brand.
 */
#ifndef UM_NGINX_PAGES_H
#define UM_NGINX_PAGES_H

#include "core/str.h"
#include "http/layout.h"

/*
 * Appends the variables that nginx/urlmode/errors.conf answers with:
 * $urlmode_error_page and $urlmode_error_policy. They follow from
 * $urlmode_error, $urlmode_error_reason and the header Accept-Language.
 */
void um_nginx_pages_put(struct um_buf *out, const struct um_brand *brand);

#endif
