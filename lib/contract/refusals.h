/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_REFUSALS_H
#define UM_CONTRACT_REFUSALS_H

/*
 * name, HTTP status, reason code, the texts of its page (PAGE_TITLE and PAGE),
 * and the text of a response to a program.
 */
#define UM_REFUSALS(X) \
	X(UNKNOWN_ROUTE, 404, "unknown_route", NOT_FOUND, "There is no page at this address.") \
	X(UNKNOWN_PROVIDER, 404, "unknown_provider", LINK_INVALID, "This site has no provider with this name.") \
	X(WRONG_TENANT, 404, "wrong_tenant", LINK_INVALID, "This link is of a tenant that may not use its provider.") \
	X(WRONG_KIND, 404, "wrong_kind", LINK_INVALID, "This link is of another kind than its provider.") \
	X(METHOD_NOT_ALLOWED, 405, "method_not_allowed", NOT_ACCEPTED, "This address does not accept this kind of request.") \
	X(PREFETCH, 503, "prefetch", RELOAD, "This page cannot be loaded in advance.") \
	X(MALFORMED_PARAMETERS, 400, "malformed_parameters", LINK_INVALID, "The parameters are not form data.") \
	X(DUPLICATE_PARAMETER, 400, "duplicate_parameter", LINK_INVALID, "A parameter occurs twice.") \
	X(PARAMETERS_TOO_LARGE, 400, "parameters_too_large", TOO_LARGE, "The parameters are larger than this address accepts.") \
	X(BODY_TOO_LARGE, 413, "body_too_large", TOO_LARGE, "The request is larger than this address accepts.") \
	X(TOO_MANY_BODIES, 503, "too_many_bodies", RELOAD, "Too much is being sent at the same time. Please send it again in a few seconds.") \
	X(UNSUPPORTED_MEDIA_TYPE, 415, "unsupported_media_type", NOT_ACCEPTED, "This address accepts form data only.") \
	X(QUERY_AND_FORM, 400, "query_and_form", LINK_INVALID, "Both the query and the form have parameters.") \
	X(STATE_MISSING, 400, "state_missing", LINK_INVALID, "The parameter state is missing.") \
	X(STATE_INVALID, 400, "state_invalid", LINK_INVALID, "The parameter state is not valid.") \
	X(UNKNOWN_KEY, 400, "unknown_key", LINK_INVALID, "The parameter state is not valid.") \
	X(STATE_EXPIRED, 410, "state_expired", LINK_EXPIRED, "The parameter state has expired.") \
	X(RESPONSE_INCOMPLETE, 400, "response_incomplete", RESPONSE_REFUSED, "The provider sent neither a token nor an error.") \
	X(RESPONSE_AMBIGUOUS, 400, "response_ambiguous", RESPONSE_REFUSED, "The provider sent both a code and an error.") \
	X(ISSUER_MISSING, 400, "issuer_missing", RESPONSE_REFUSED, "The provider did not identify itself.") \
	X(ISSUER_MISMATCH, 400, "issuer_mismatch", RESPONSE_REFUSED, "The response did not come from the expected provider.") \
	X(ANSWER_INVALID, 400, "answer_invalid", ANSWER_INVALID, "The parameter answer is not one of its choices.") \
	X(FIELD_UNKNOWN, 400, "field_unknown", ANSWER_INVALID, "The form has no such field.") \
	X(CROSS_SITE, 403, "cross_site", DENIED, "The form was sent by another site.") \
	X(APPROVAL_NEEDS_SIGN_IN, 403, "approval_needs_sign_in", SIGN_IN_NOT_SET_UP, "An approval by others needs a sign-in, and user_check is confirm.") \
	X(FOUR_EYES_NOT_SET_UP, 403, "four_eyes_not_set_up", SIGN_IN_NOT_SET_UP, "The provider has no four_eyes in the configuration.") \
	X(STEP_UP_NOT_SET_UP, 403, "step_up_not_set_up", SIGN_IN_NOT_SET_UP, "A fresh sign-in requires user_check openid.") \
	X(OWN_REQUEST, 403, "own_request", OWN_REQUEST, "Somebody else has to decide this.") \
	X(WRONG_BROWSER, 403, "wrong_browser", WRONG_BROWSER, "This was started in another browser.") \
	X(SIGN_IN_NOT_SET_UP, 500, "sign_in_not_set_up", SIGN_IN_NOT_SET_UP, "The web server does not say who the user is.") \
	X(SIGN_IN_REQUIRED, 403, "sign_in_required", SIGN_IN, "The user is not signed in.") \
	X(SESSION_ENDED, 403, "session_ended", SESSION_ENDED, "The session has ended, and nothing was stored.") \
	X(SIGN_IN_REFUSED, 403, "sign_in_refused", SIGN_IN_FAILED, "The provider did not sign the user in.") \
	X(ID_TOKEN_INVALID, 403, "id_token_invalid", SIGN_IN_FAILED, "The id token of the provider is not valid here.") \
	X(UNKNOWN_SIGNING_KEY, 403, "unknown_signing_key", SIGN_IN_FAILED, "The key of the id token's signature is not known here.") \
	X(SESSION_MISSING, 403, "session_missing", WRONG_BROWSER, "The browser has not kept the session of its sign-in.") \
	X(WRONG_USER, 403, "wrong_user", WRONG_USER, "This was started by a different user.") \
	X(UNKNOWN_ELICITATION, 404, "unknown_elicitation", REQUEST_UNKNOWN, "This request no longer exists.") \
	X(EXPIRED, 410, "expired", EXPIRED, "This request has expired.") \
	X(NOT_OPERATOR, 403, "not_operator", CONSOLE_DENIED, "This user may not open the console.") \
	X(TOKEN_INVALID, 403, "token_invalid", SESSION_ENDED, "The form is not of this session.") \
	X(CURSOR_INVALID, 400, "cursor_invalid", LINK_INVALID, "The parameter cursor is not valid.") \
	X(FILTER_INVALID, 400, "filter_invalid", LINK_INVALID, "A parameter is not one of its values.") \
	X(NOTE_INVALID, 400, "note_invalid", CONSOLE_NOTE, "The note or the reference is missing or too long.") \
	X(UNKNOWN_HERE, 404, "unknown_here", CONSOLE_NOT_HERE, "There is nothing of this id here.") \
	X(NOT_HELD, 409, "not_held", CONSOLE_NOT_HELD, "This payment is not held.") \
	X(PAYMENT_CHANGED, 409, "payment_changed", CONSOLE_CHANGED, "This payment has changed since its page was shown.") \
	X(PAYMENT_CLAIMED, 409, "payment_claimed", CONSOLE_CLAIMED, "A call has claimed this payment.") \
	X(ELICITATION_DELETED, 409, "elicitation_deleted", CONSOLE_DELETED, "The elicitation of this payment was deleted.") \
	X(ALREADY_REFUNDED, 409, "already_refunded", CONSOLE_ALREADY, "All of this payment has gone back already.") \
	X(SIGNATURE_MISSING, 401, "signature_missing", RESPONSE_REFUSED, "The provider's message has no signature.") \
	X(SIGNATURE_INVALID, 401, "signature_invalid", RESPONSE_REFUSED, "The signature does not match the provider's message.") \
	X(CERTIFICATE_EXPIRED, 401, "certificate_expired", RESPONSE_REFUSED, "The certificate for the provider's signature is not valid at this time.") \
	X(SIGNING_KEY_MISSING, 503, "signing_key_missing", BUSY, "The key of the provider's signature is not known here yet.") \
	X(TIMESTAMP_OUT_OF_TOLERANCE, 401, "timestamp_out_of_tolerance", RESPONSE_REFUSED, "The provider's message was signed too long ago, or its time is in the future.") \
	X(BODY_MALFORMED, 400, "body_malformed", RESPONSE_REFUSED, "The provider's message has a valid signature but cannot be read.") \
	X(UNAVAILABLE, 503, "unavailable", BUSY, "Nothing is lost. Please try again in a few seconds.") \
	X(NOT_STORED, 503, "not_stored", NOT_STORED, "Nothing was stored. Please send the form again.") \
	X(INTERNAL_ERROR, 500, "internal_error", ERROR, "Something went wrong on our side. Please try again later.")

#endif
