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
 * ex->plain and, where the route has fields, ex->form. The request is refused if
 * the program has no such path, if the provider is not one of the route's, if
 * the path has no route for the method (ex->allow says which it has), if the
 * browser only loads the page in advance, if the body is too large, and if the
 * fields are not those of a form: each once, within the limits of http/form.h,
 * unless the route reads them leniently, and for POST in the body alone.
 */
void um_route_request(const struct um_context *context, struct um_exchange *ex,
	const struct um_program *program);

#endif
