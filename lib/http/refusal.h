/* SPDX-License-Identifier: MIT */
/* Every refusal there is: its reason code, its status and what to do. */
#ifndef UM_REFUSAL_H
#define UM_REFUSAL_H

#define UM_REFUSALS(X)                                                         \
	X(UNKNOWN_ROUTE, 404, "unknown_route", "There is no such page here.")  \
	X(UNKNOWN_PROVIDER, 404, "unknown_provider",                           \
		"This site knows no provider of that name.")                   \
	X(METHOD_NOT_ALLOWED, 405, "method_not_allowed",                       \
		"This address does not answer that kind of request.")          \
	X(PREFETCH, 503, "prefetch",                                           \
		"This page is only for going there in person.")                \
	X(MALFORMED_PARAMETERS, 400, "malformed_parameters",                   \
		"The link is damaged. Start again where you came from.")       \
	X(DUPLICATE_PARAMETER, 400, "duplicate_parameter",                     \
		"The link is damaged. Start again where you came from.")       \
	X(PARAMETERS_TOO_LARGE, 400, "parameters_too_large",                   \
		"The link is damaged. Start again where you came from.")       \
	X(BODY_TOO_LARGE, 413, "body_too_large",                               \
		"More was sent than this address takes.")                      \
	X(UNSUPPORTED_MEDIA_TYPE, 415, "unsupported_media_type",               \
		"This address takes form data only.")                          \
	X(STATE_MISSING, 400, "state_missing",                                 \
		"The link is incomplete. Start again where you came from.")    \
	X(STATE_INVALID, 400, "state_invalid",                                 \
		"The link is not valid. Start again where you came from.")     \
	X(STATE_EXPIRED, 410, "state_expired",                                 \
		"The link has expired. Start again where you came from.")      \
	X(RESPONSE_INCOMPLETE, 400, "response_incomplete",                     \
		"The provider sent neither a code nor an error.")              \
	X(RESPONSE_AMBIGUOUS, 400, "response_ambiguous",                       \
		"The provider sent both a code and an error.")                 \
	X(ISSUER_MISSING, 400, "issuer_missing",                               \
		"The provider did not say who it is.")                         \
	X(ISSUER_MISMATCH, 400, "issuer_mismatch",                             \
		"The answer comes from another provider than was asked.")      \
	X(ANSWER_INVALID, 400, "answer_invalid",                               \
		"Please use one of the two buttons on the page before.")       \
	X(WRONG_BROWSER, 403, "wrong_browser",                                 \
		"This was started in another browser, or cookies are "         \
		"blocked. Go on in the browser in which you started.")         \
	X(SIGN_IN_NOT_SET_UP, 500, "sign_in_not_set_up",                       \
		"Signing in is not set up on this site: its web server "       \
		"does not say who you are.")                                   \
	X(SIGN_IN_REQUIRED, 403, "sign_in_required",                           \
		"Please sign in where you came from, and open the link "       \
		"again.")                                                      \
	X(WRONG_USER, 403, "wrong_user",                                       \
		"This was started by somebody else. You are signed in as "     \
		"another user than the one it is for.")                        \
	X(UNKNOWN_ELICITATION, 404, "unknown_elicitation",                     \
		"This request does not exist any more. "                       \
		"Start again where you came from.")                            \
	X(EXPIRED, 410, "expired",                                             \
		"The time for this is over. Start again where you came from, " \
		"unless you have paid: then ask there.")                       \
	X(SIGNATURE_MISSING, 401, "signature_missing",                         \
		"What the provider sent carries no signature.")                \
	X(SIGNATURE_INVALID, 401, "signature_invalid",                         \
		"The signature does not fit what the provider sent.")          \
	X(TIMESTAMP_OUT_OF_TOLERANCE, 401, "timestamp_out_of_tolerance",       \
		"What the provider sent was signed too long ago, or in the "   \
		"future.")                                                     \
	X(BODY_MALFORMED, 400, "body_malformed",                               \
		"What the provider sent is rightly signed, and cannot be "     \
		"read.")                                                       \
	X(UNAVAILABLE, 503, "unavailable",                                     \
		"Nothing is lost: this page tries again by itself "            \
		"in a few seconds.")                                           \
	X(INTERNAL_ERROR, 500, "internal_error",                               \
		"Something went wrong on our side.")

enum um_refusal {
#define X(name, status, code, advice) UM_REFUSAL_##name,
	UM_REFUSALS(X)
#undef X
};

/* The HTTP status. */
int um_refusal_status(enum um_refusal refusal);
/* The reason code, as the page, the log and the documentation name it. */
const char *um_refusal_code(enum um_refusal refusal);
/* One or two sentences for the person in front of the page. */
const char *um_refusal_advice(enum um_refusal refusal);

#endif
