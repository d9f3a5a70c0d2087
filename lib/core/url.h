/* SPDX-License-Identifier: MIT */
/* Addresses that a person configures. */
#ifndef UM_URL_H
#define UM_URL_H

/*
 * Where the host of an address and its port end: at the path, the query, the
 * fragment or the end of the text. NULL for an address that is neither https
 * nor http on loopback (127.0.0.1, localhost, [::1]), where nobody listens on
 * the way, and for one without a host or with a user's name.
 */
const char *um_url_authority_end(const char *url);

#endif
