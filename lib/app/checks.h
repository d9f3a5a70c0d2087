/* SPDX-License-Identifier: MIT */
/*
 * The checks of which the steps of the programs are made. Each returns true,
 * or refuses the exchange and returns false.
 */
#ifndef UM_CHECKS_H
#define UM_CHECKS_H

#include "app/exchange.h"

/*
 * The path is `prefix`, the name of a provider and `suffix`, and the provider
 * is of this kind, or of any for UM_KIND_ANY. Sets ex->provider.
 */
bool um_check_route(const struct um_context *context, struct um_exchange *ex,
	const char *prefix, const char *suffix, enum um_kind kind);

/* The method is in `allow` ("GET, HEAD"), and this is no prefetch. */
bool um_check_method(struct um_exchange *ex, const char *allow);

/*
 * The query holds the fields of a form within the limits of http/form.h, each
 * of them once. Sets ex->form.
 */
bool um_check_query(struct um_exchange *ex);

/* The same, but for POST it is the body that holds them, and no query. */
bool um_check_fields(struct um_exchange *ex);

/*
 * The field `state` is a valid token for this purpose and ex->provider, and a
 * token that is bound to a browser comes from that browser. Sets ex->token,
 * ex->has_token and ex->cookie.
 */
bool um_check_state(const struct um_context *context, struct um_exchange *ex,
	enum um_purpose purpose);

/*
 * It is known who the user is, in the way that `user_check` of the
 * configuration names. Sets ex->user, which stays empty for `confirm`: there
 * the confirm page asks.
 */
bool um_check_user(const struct um_context *context, struct um_exchange *ex);

/* The description of the provider accepts the delivery. */
bool um_check_verdict(struct um_exchange *ex, enum um_verdict verdict);

/*
 * The database has carried out all operations that were requested. The
 * outcome of um_check_shown() goes to the log.
 */
bool um_check_done(struct um_exchange *ex);

/*
 * The operation that the log tells of: the first that was not carried out; else
 * the first, or of several events the first whose elicitation is there.
 */
const struct um_op *um_check_shown(const struct um_exchange *ex);

/*
 * After UM_OP_COMPLETE and um_check_done(): the row is completed, now or
 * earlier. While it is processing, the response says so and refuses nothing.
 */
bool um_check_completed(struct um_exchange *ex);

/*
 * After UM_OP_LOOK_UP: ex->user, where it is known, is the row's subject, and
 * the browser is the one that went on from /connect. A token that is bound to
 * a browser has proved the latter; one from the MCP server is bound to none.
 */
bool um_require_owner(const struct um_context *context, struct um_exchange *ex);

#endif
