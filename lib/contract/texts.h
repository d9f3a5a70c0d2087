/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_TEXTS_H
#define UM_CONTRACT_TEXTS_H

#define UM_TEXT_MUST_BE_ONE_OF "must be one of %s"
#define UM_TEXT_MUST_BE_OBJECT "must be an object"
#define UM_TEXT_MUST_NOT_BE_EMPTY "must not be empty"
#define UM_TEXT_MUST_HAVE_CHARACTERS "must have %.0f to %.0f characters"
#define UM_TEXT_MUST_HAVE_BYTES_AT_MOST "must have at most %.0f bytes"
#define UM_TEXT_MUST_HAVE_ELEMENTS "must have %.0f to %.0f elements"
#define UM_TEXT_MUST_NOT_OCCUR_TWICE "must not occur twice"
#define UM_TEXT_ALLOWED_HERE "is not allowed here. Allowed are %s"
#define UM_TEXT_MUST_BE_CHOICE "must be one of the choices"
#define UM_TEXT_MAX_BELOW_MIN "must not be less than min"
#define UM_TEXT_USUAL_MAX_BELOW_MIN "must not be less than min: it is %zu"
#define UM_TEXT_MUST_BE_IN_RANGE "must be from min to max"
#define UM_TEXT_MUST_HAVE_LENGTH "must have %zu to %zu characters, as the field says"
#define UM_TEXT_MUST_HAVE_FORMAT "must have the format %.*s"
#define UM_TEXT_NOT_FOR_LINES "is not allowed for several lines"
#define UM_TEXT_MUST_BE_TRIMMED "must not begin or end with a space"
#define UM_TEXT_MUST_BE_FIELD_NAME "must begin with a letter and have at most 32 characters of a-z, 0-9 and _"
#define UM_TEXT_MUST_BE_EMAIL "must be an email address"
#define UM_TEXT_MUST_BE_URL "must be a URL with https or http"
#define UM_TEXT_MUST_BE_LINK "must be a URL with https, without a user name, of at most 2048 bytes"
#define UM_TEXT_MUST_BE_SHORT "must be a number of at most 15 digits"
#define UM_TEXT_HAS_CONTROLS "must not have control characters"
#define UM_TEXT_HAS_DIRECTIONS "must not have characters that change the direction of text"
#define UM_TEXT_MUST_HAVE_BYTES "must have %zu to %zu bytes in UTF-8"
#define UM_TEXT_MUST_BE_BOOL "must be true or false"
#define UM_TEXT_SUBSCRIPTION_WITHOUT_PRICE "subscription requires its first price: expected cannot be any"
#define UM_TEXT_NO_CHECKOUT_IN_EVENTS "expected.match cannot be checkout: the events of %s do not name the checkout that was paid"
#define UM_TEXT_AMOUNT_STEP "expected.amount must be a multiple of %lld: %s cannot charge a smaller part of %s"
#define UM_TEXT_AMOUNT_TOO_LARGE "expected.amount is more than %s can charge"
#define UM_TEXT_RESULT_TOO_LARGE "result must have at most %d bytes as JSON"
#define UM_TEXT_TRACEPARENT_FORM "traceparent must be one of W3C Trace Context, version 00"
#define UM_TEXT_TARGET_URL_FRAGMENT "target_url must not have a fragment"
#define UM_TEXT_TARGET_URL_STATE "target_url must not have a state: /connect adds it"
#define UM_TEXT_TARGET_URL_CHALLENGE "target_url must not have a code_challenge: pkce adds it"
#define UM_TEXT_COMMITS_UNANSWERED "commits are not answered"

#endif
