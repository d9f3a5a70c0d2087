/* SPDX-License-Identifier: MIT */
/*
 * What all methods have in common: who calls, the JSON of the request, the owner of
 * an elicitation, and how a method answers. The state of a method's exchange begins
 * with a struct um_api_request.
 */
#ifndef UM_API_REQUEST_H
#define UM_API_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "api/api.h"
#include "api/put.h"
#include "api/reader.h"
#include "app/exchange.h"
#include "core/uuid.h"
#include "crypto/binding.h"
#include "http/api_error.h"

/* An elicitation, and whose it is. */
struct um_api_owner {
	uint8_t id[UM_UUID_LEN];
	uint8_t binding[UM_BINDING_LEN];
	struct um_str subject, session; /* in the JSON */
};

/*
 * Begins a method: checks the key, and reads the body. `size` is that of the
 * method's state, whose first member is the request; it is zeroed and belongs to
 * the exchange, which frees it with free_own(). NULL: the response is written.
 */
void *um_api_begin(const struct um_context *context, struct um_exchange *ex,
	size_t size, void (*free_own)(void *state));

/* Frees what the request has; for a method's free_own(). */
void um_api_request_free(struct um_api_request *request);

/* All members are read. False: there is a fault, and the response is written. */
bool um_api_end(struct um_api_request *request);

/* Reads `subject` and `session`, and makes the binding of the key's tenant. */
void um_api_read_subject(struct um_api_request *request,
	struct um_reader *reader, const struct um_context *context,
	struct um_api_owner *owner);

/* The same with `id`, in the root. The log gets the id. */
void um_api_read_owner(struct um_api_request *request,
	const struct um_context *context, struct um_api_owner *owner);

/*
 * Requests a call, as um_exchange_request_call() does. The step `then` follows if it
 * was carried out; otherwise the request is refused.
 */
void um_api_call(struct um_exchange *ex, const struct um_call *call,
	const uint8_t *id, um_step *then);

/*
 * The same on this row, whose first two parameters are its id and its
 * binding. Returns the parameters, to which the caller adds the others.
 */
struct um_buf *um_api_request_call(struct um_exchange *ex,
	const struct um_call *call, const struct um_api_owner *owner,
	um_step *then);

/*
 * For a call that has done nothing: asks whether this owner has the row at all. If so,
 * `found` is the next step; otherwise the response is 404. A foreign row and none are
 * the same.
 */
enum um_refusal um_api_look_up(struct um_exchange *ex,
	const struct um_api_owner *owner, um_step *found);

/* Reads `reason`: a code of a-z, 0-9 and _. */
bool um_api_read_reason(struct um_reader *reader, struct um_str *out);

/* Writes an error. Always UM_REFUSAL_NONE, so that a step can return it. */
enum um_refusal um_api_fail(struct um_exchange *ex, enum um_api_error error,
	const char *message, const char *member);

/* The same, left open for further members; the caller ends two objects. */
bool um_api_fail_open(struct um_exchange *ex, enum um_api_error error);

/* The same with `left_ms`: for how long another call has the lease, at most. */
enum um_refusal um_api_fail_leased(struct um_exchange *ex,
	enum um_api_error error, int64_t left_ms);

/*
 * Begins the JSON of a response; the step puts its members, and calls
 * um_json_put_end(). The row that the call acts on has changed. `outcome` is a word for the log.
 */
struct um_buf *um_api_answer(struct um_exchange *ex, int status,
	const char *outcome);

/* `items`, this column of each row that has it, and `next`, a cursor or NULL. */
void um_api_put_page(struct um_buf *json, const struct um_op *op, int col,
	const char *next);

/* `money`, if the lease was renewed and all that was paid went back: refunded, disputed. */
void um_api_put_money(struct um_buf *json, const struct um_op *op);

/* Reads `since`, an instant, in Unix milliseconds. False: it is not there. */
bool um_api_read_since(struct um_reader *reader, int64_t *since_ms);

/* For a step that follows in any case: why the call was not carried out, or NONE. */
enum um_refusal um_api_check_call(const struct um_exchange *ex);

#endif
