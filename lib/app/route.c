/* SPDX-License-Identifier: MIT */
#include "app/route.h"

#include <stdio.h>
#include <string.h>

#include "app/checks.h"

size_t
um_route_body_max(const struct um_program *program)
{
	size_t max = 0;

	for (const struct um_route *route = program->routes;
		route->prefix != NULL; route++)
		max = route->body_max > max ? route->body_max : max;
	return max;
}

/* Whether the path is one of the route's. Sets *name to the provider's name. */
static bool
is_path(const struct um_route *route, struct um_str path, struct um_str *name)
{
	*name = path;
	if (route->suffix == NULL)
		return um_str_is(path, route->prefix);
	return um_str_take_prefix(name, route->prefix)
		&& um_str_take_suffix(name, route->suffix) && name->len != 0
		&& memchr(name->ptr, '/', name->len) == NULL;
}

/* Whether this deployment has the route, for this provider. */
static bool
is_served(const struct um_route *route, const struct um_context *context,
	const struct um_provider *provider)
{
	if (route->suffix != NULL
		&& (provider == NULL
			|| (route->kinds & UM_KIND_BIT(provider->kind)) == 0))
		return false;
	return route->serves == NULL || route->serves(context, provider);
}

static bool
has_method(const struct um_route *route, enum um_method method)
{
	static const char *const names[] = { "GET", "HEAD", "POST" };

	return method != UM_OTHER_METHOD
		&& strstr(route->methods, names[method]) != NULL;
}

/* The path has this route, for other methods. */
static void
allow(struct um_exchange *ex, const struct um_route *route)
{
	size_t len = strlen(ex->allow);

	snprintf(ex->allow + len, sizeof(ex->allow) - len, "%s%s",
		len != 0 ? ", " : "", route->methods);
}

static enum um_refusal
find(const struct um_route **found, const struct um_context *context,
	struct um_exchange *ex, const struct um_program *program)
{
	enum um_refusal refusal = UM_REFUSAL_UNKNOWN_ROUTE;

	for (const struct um_route *route = program->routes;
		route->prefix != NULL; route++) {
		struct um_str name, rest = ex->request.path;
		const struct um_provider *provider = NULL;

		if (um_str_take_prefix(&rest, route->prefix))
			ex->plain |= route->plain;
		if (!is_path(route, ex->request.path, &name))
			continue;
		if (route->suffix != NULL) {
			provider = um_config_provider(context->config, name);
			if (refusal == UM_REFUSAL_UNKNOWN_ROUTE)
				refusal = UM_REFUSAL_UNKNOWN_PROVIDER;
		}
		if (!is_served(route, context, provider))
			continue;
		ex->provider = provider;
		*found = route;
		if (has_method(route, ex->request.method))
			return UM_REFUSAL_NONE;
		allow(ex, route);
		refusal = UM_REFUSAL_METHOD_NOT_ALLOWED;
	}
	return refusal;
}

static enum um_refusal
read_fields(struct um_exchange *ex, const struct um_route *route)
{
	const struct um_request *request = &ex->request;

	if (route->value_max == 0)
		return UM_REFUSAL_NONE;
	if (request->method != UM_POST) {
		if (!route->lenient)
			return um_check_query(ex);
		return request->query.len > UM_QUERY_MAX
			? UM_REFUSAL_PARAMETERS_TOO_LARGE
			: um_form_parse_lenient(&ex->form, request->query);
	}
	if (!um_request_is_form(request))
		return UM_REFUSAL_UNSUPPORTED_MEDIA_TYPE;
	if (request->query.len != 0)
		return UM_REFUSAL_QUERY_AND_FORM;
	if (route->lenient)
		return um_form_parse_lenient(&ex->form, request->body);
	return um_form_parse_max(&ex->form, request->body, route->value_max);
}

static enum um_refusal
check(const struct um_route **route, const struct um_context *context,
	struct um_exchange *ex, const struct um_program *program)
{
	const struct um_request *request = &ex->request;
	enum um_refusal refusal = find(route, context, ex, program);

	if (refusal != UM_REFUSAL_NONE)
		return refusal;
	/*
	 * An error, since a browser would show the page that it has loaded in
	 * advance when the user opens it.
	 */
	if (request->prefetch)
		return UM_REFUSAL_PREFETCH;
	if (request->body_dropped)
		return UM_REFUSAL_TOO_MANY_BODIES;
	if (request->method == UM_POST
		&& (request->body_too_large
			|| request->body.len > (*route)->body_max))
		return UM_REFUSAL_BODY_TOO_LARGE;
	return read_fields(ex, *route);
}

void
um_route_request(const struct um_context *context, struct um_exchange *ex,
	const struct um_program *program)
{
	const struct um_route *route = NULL;

	ex->is_api = program->login == UM_LOGIN_SERVER;
	ex->refusal = check(&route, context, ex, program);
	if (ex->refusal == UM_REFUSAL_NONE)
		um_exchange_step(context, ex, route->plan);
}
