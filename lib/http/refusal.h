/* SPDX-License-Identifier: MIT */
/* Every refusal: its reason code, its status and its advice. */
#ifndef UM_REFUSAL_H
#define UM_REFUSAL_H

/* name, HTTP status, reason code, what the person reading it should do */
#define UM_REFUSALS(X)                                                         \
	X(UNKNOWN_ROUTE, 404, "unknown_route",                                 \
		"There is no page at this address.")                           \
	X(UNKNOWN_PROVIDER, 404, "unknown_provider",                           \
		"This site has no provider with this name. Return to where "   \
		"you started and try again.")                                  \
	X(METHOD_NOT_ALLOWED, 405, "method_not_allowed",                       \
		"This address does not accept this kind of request.")          \
	X(PREFETCH, 503, "prefetch",                                           \
		"This page cannot be loaded in advance. Open it yourself.")    \
	X(MALFORMED_PARAMETERS, 400, "malformed_parameters",                   \
		"The link is damaged. Return to where you started and try "    \
		"again.")                                                      \
	X(DUPLICATE_PARAMETER, 400, "duplicate_parameter",                     \
		"The link is damaged. Return to where you started and try "    \
		"again.")                                                      \
	X(PARAMETERS_TOO_LARGE, 400, "parameters_too_large",                   \
		"The link is damaged. Return to where you started and try "    \
		"again.")                                                      \
	X(BODY_TOO_LARGE, 413, "body_too_large",                               \
		"The request is larger than this address accepts.")            \
	X(UNSUPPORTED_MEDIA_TYPE, 415, "unsupported_media_type",               \
		"This address accepts form data only.")                        \
	X(QUERY_AND_FORM, 400, "query_and_form",                               \
		"The link is damaged. Return to where you started and try "    \
		"again.")                                                      \
	X(STATE_MISSING, 400, "state_missing",                                 \
		"The link is incomplete. Return to where you started and "     \
		"try again.")                                                  \
	X(STATE_INVALID, 400, "state_invalid",                                 \
		"The link is not valid. Return to where you started and "      \
		"try again.")                                                  \
	/* For the log: whoever has made the state reads `state_invalid`. */   \
	X(UNKNOWN_KEY, 400, "unknown_key",                                     \
		"The link is not valid. Return to where you started and "      \
		"try again.")                                                  \
	X(STATE_EXPIRED, 410, "state_expired",                                 \
		"The link has expired. Return to where you started and try "   \
		"again.")                                                      \
	X(RESPONSE_INCOMPLETE, 400, "response_incomplete",                     \
		"The provider sent neither a code nor an error. Return to "    \
		"where you started and try again.")                            \
	X(RESPONSE_AMBIGUOUS, 400, "response_ambiguous",                       \
		"The provider sent both a code and an error. Return to "       \
		"where you started and try again.")                            \
	X(ISSUER_MISSING, 400, "issuer_missing",                               \
		"The provider did not identify itself. Return to where you "   \
		"started and try again.")                                      \
	X(ISSUER_MISMATCH, 400, "issuer_mismatch",                             \
		"The answer did not come from the expected provider. "         \
		"Return to where you started and try again.")                  \
	X(ANSWER_INVALID, 400, "answer_invalid",                               \
		"Go back to the previous page and use one of its two "         \
		"buttons.")                                                    \
	X(WRONG_BROWSER, 403, "wrong_browser",                                 \
		"This was started in another browser, or your browser "        \
		"blocks cookies. Continue in the browser where you "           \
		"started, and allow cookies there.")                           \
	X(SIGN_IN_NOT_SET_UP, 500, "sign_in_not_set_up",                       \
		"Sign-in is not set up on this site: its web server does "     \
		"not say who you are. Please tell the site's operator.")       \
	X(SIGN_IN_REQUIRED, 403, "sign_in_required",                           \
		"Sign in where you started, then open the link again.")        \
	X(WRONG_USER, 403, "wrong_user",                                       \
		"This was started by a different user. If that was you, "      \
		"sign in with that account and open the link again.")          \
	X(UNKNOWN_ELICITATION, 404, "unknown_elicitation",                     \
		"This request no longer exists. Return to where you "          \
		"started and try again.")                                      \
	X(EXPIRED, 410, "expired",                                             \
		"This request has expired. If you have paid, do not pay "      \
		"again: return to where you started and ask for help "         \
		"there. Otherwise, start again there.")                        \
	X(SIGNATURE_MISSING, 401, "signature_missing",                         \
		"The provider's message has no signature.")                    \
	X(SIGNATURE_INVALID, 401, "signature_invalid",                         \
		"The signature does not match the provider's message.")        \
	X(TIMESTAMP_OUT_OF_TOLERANCE, 401, "timestamp_out_of_tolerance",       \
		"The provider's message was signed too long ago, or its "      \
		"time is in the future.")                                      \
	X(BODY_MALFORMED, 400, "body_malformed",                               \
		"The provider's message has a valid signature but cannot "     \
		"be read.")                                                    \
	X(UNAVAILABLE, 503, "unavailable",                                     \
		"Nothing is lost. This page will reload by itself in a few "   \
		"seconds.")                                                    \
	X(INTERNAL_ERROR, 500, "internal_error",                               \
		"Something went wrong on our side. Please try again later.")

enum um_refusal {
#define X(name, status, code, advice) UM_REFUSAL_##name,
	UM_REFUSALS(X)
#undef X
};

/* The HTTP status. */
int um_refusal_status(enum um_refusal refusal);
/* The reason code: in the log and in the documentation. */
const char *um_refusal_code(enum um_refusal refusal);
/* The same for the person who sees the page. */
const char *um_refusal_shown_code(enum um_refusal refusal);
/* One to three sentences for the person who sees the page; a constant. */
const char *um_refusal_advice(enum um_refusal refusal);

#endif
