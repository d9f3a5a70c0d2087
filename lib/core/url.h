/* SPDX-License-Identifier: MIT */
/* URLs in a configuration. */
#ifndef UM_URL_H
#define UM_URL_H

/*
 * The end of the URL's host and port: its path, query, fragment, or the end of
 * the text. NULL for a URL that is neither https nor http on loopback
 * (127.0.0.1, localhost, [::1]), and for one without a host or with a user
 * name.
 */
const char *um_url_authority_end(const char *url);

#endif
