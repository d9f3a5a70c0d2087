/* SPDX-License-Identifier: MIT */
/*
 * Finds the route of a request in the table of its program (app/program.h), and
 * makes the checks that every route has in common: path, method, provider, size
 * and fields.
 */
#ifndef UM_ROUTE_H
#define UM_ROUTE_H

#include "app/exchange.h"

/* Bytes of the longest body that a route of the program takes. */
size_t um_route_body_max(const struct um_program *program);

/*
 * Takes the first step of a request: the plan of its route. Sets ex->provider,
 * ex->plain and, where the route has fields, ex->form. Refuses
 * - a path that the program does not have, and a provider that is not the route's;
 * - a method for which the path has no route (ex->allow says which it has);
 * - a browser that only loads the page in advance, and a body that is too large;
 * - fields that are not those of a form: each once, within the limits of
 *   http/form.h, unless the route reads them leniently, and for POST in the body
 *   alone.
 */
void um_route_request(const struct um_context *context, struct um_exchange *ex,
	const struct um_program *program);

#endif
