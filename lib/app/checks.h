/* SPDX-License-Identifier: MIT */
/*
 * The checks of which the steps of the programs are made. Each returns why the
 * request is refused, or UM_REFUSAL_NONE.
 */
#ifndef UM_CHECKS_H
#define UM_CHECKS_H

#include "app/exchange.h"

/*
 * The query holds the fields of a form within the limits of http/form.h, each
 * of them once. Sets ex->form.
 */
enum um_refusal um_check_query(struct um_exchange *ex);

/*
 * The field `state` is a valid token for this purpose and ex->provider, and a
 * token that is bound to a browser comes from that browser. Sets ex->token and
 * ex->has_token.
 */
enum um_refusal um_check_state(const struct um_context *context,
	struct um_exchange *ex, enum um_purpose purpose);

/*
 * The same for UM_PURPOSE_CONNECT, or the field is the short state of a link
 * (crypto/link.h): sets ex->is_link, and of ex->token only the id. The link of an
 * approval by others also sets ex->is_approval_link.
 */
enum um_refusal um_check_link(const struct um_context *context,
	struct um_exchange *ex);

/*
 * It is known who the user is, by the configuration's `user_check`. Sets
 * ex->user, which stays empty for `confirm`, where the confirm page asks, and for
 * `openid` without a session: /connect then begins a sign-in (app/signin.h), and
 * a return counts by its browser.
 */
enum um_refusal um_check_user(const struct um_context *context,
	struct um_exchange *ex);

/* The description of the provider accepts the delivery. */
enum um_refusal um_check_verdict(enum um_verdict verdict);

/*
 * The database has carried out all requested operations. Sets the outcome of
 * um_check_logged() for the log.
 */
enum um_refusal um_check_done(struct um_exchange *ex);

/*
 * The operation to log: the first that was not carried out; else the first, or
 * the first event whose elicitation is known.
 */
const struct um_op *um_check_logged(const struct um_exchange *ex);

/*
 * After LOOK_UP, OPEN, COMPLETE or what a form asks, and um_check_done(): the
 * elicitation is known and has not expired, and the user is its subject, or may
 * decide it.
 */
enum um_refusal um_check_row(const struct um_exchange *ex);

/*
 * After LOOK_UP: ex->user, if known, is the subject of the row, if there is one.
 * Before um_check_row(), so that another user learns nothing of the row.
 */
enum um_refusal um_check_subject(const struct um_exchange *ex);

/*
 * After LOOK_UP: ex->user, if known, is the row's subject, and the browser is
 * the one that opened the row. A token that is bound to a browser has proved
 * the latter already; one from the MCP server is bound to none.
 */
enum um_refusal um_require_owner(const struct um_context *context,
	const struct um_exchange *ex);

#endif
