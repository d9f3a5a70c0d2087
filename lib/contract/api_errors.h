/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_API_ERRORS_H
#define UM_CONTRACT_API_ERRORS_H

/* name, HTTP status, code, and the message unless a call has its own. */
#define UM_API_ERRORS(X) \
	X(INVALID_REQUEST, 400, "invalid_request", "The request is not as this method takes it.") \
	X(UNAUTHORIZED, 401, "unauthorized", "The Authorization header has no key that is known here.") \
	X(NOT_FOUND, 404, "not_found", "There is no such method or elicitation.") \
	X(METHOD_NOT_ALLOWED, 405, "method_not_allowed", "Each method is a POST.") \
	X(CONFLICT, 409, "conflict", "An elicitation with this id was created with other content.") \
	X(TAKEN, 409, "taken", "Another call has claimed it.") \
	X(CHANGED, 409, "changed", "It has another outcome by now.") \
	X(OPEN, 409, "open", "It is not completed.") \
	X(LEASED, 409, "leased", "Another call works for it.") \
	X(RECHECK, 409, "recheck", "The provider must be asked first.") \
	X(LOST, 409, "lost", "The lease has ended.") \
	X(MISMATCH, 409, "mismatch", "The payment is not the expected one.") \
	X(REFERENCE_TAKEN, 409, "reference_taken", "The payment has paid for another elicitation.") \
	X(UNDECIDED, 409, "undecided", "An approver accepts it, on its page.") \
	X(SUBSCRIBED, 409, "subscribed", "The user has subscribed to this item already.") \
	X(TOO_LARGE, 413, "too_large", "The body is larger than this method takes.") \
	X(FULL, 429, "full", "This subject has too many open elicitations.") \
	X(TOO_MANY, 429, "too_many", "Too many calls wait here.") \
	X(INTERNAL_ERROR, 500, "internal_error", "Something went wrong here.") \
	X(UNAVAILABLE, 503, "unavailable", "It cannot be done now. The same call can be made again.")

#endif
