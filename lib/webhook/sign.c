/* SPDX-License-Identifier: MIT */
#include "webhook/sign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/timestamp.h"

#define STAND_IN "test-1" /* for a signed header that is not there */

struct signer {
	const struct um_spec_part *part;
	const struct um_scheme *scheme;
	struct um_parsed_delivery *parsed;
	bool (*set)(const char *name, struct um_str value, void *arg);
	char time[32];
	struct um_buf params; /* beside the signature, as they are written */
};

static void
put_time(char out[static 32], int64_t now_ms, enum um_timestamp_form form)
{
	time_t seconds = (time_t)(now_ms / 1000);
	struct tm tm;

	if (form != UM_TIMESTAMP_RFC3339) {
		snprintf(out, 32, "%" PRId64,
			form == UM_TIMESTAMP_UNIX ? now_ms / 1000 : now_ms);
		return;
	}
	gmtime_r(&seconds, &tm);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Whether it is, or contains, the time of the delivery. */
static bool
is_time(const struct signer *signer, const struct um_expr *expr)
{
	return um_expr_same(expr, &signer->part->timestamp);
}

static bool
add_param(struct signer *signer, const struct um_expr *expr)
{
	struct um_params *params = &signer->parsed->params;

	for (size_t i = 0; i < params->len; i++)
		if (um_str_is(params->param[i].name, expr->text))
			return true;
	if (params->len == UM_PARAMS_MAX)
		return false;
	params->param[params->len++] = (struct um_field){ um_str(expr->text),
		um_str(signer->time) };
	um_buf_cat(&signer->params, expr->text, signer->scheme->equals,
		signer->time, signer->scheme->separator);
	return true;
}

/* Sets what the value needs and the request does not have. */
static bool /* NOLINTNEXTLINE(misc-no-recursion): depth is limited */
complete(struct signer *signer, const struct um_expr *expr)
{
	const struct um_delivery *delivery = signer->parsed->delivery;

	if (expr->kind == UM_EXPR_SIGNATURE && !add_param(signer, expr))
		return false;
	if (expr->kind == UM_EXPR_HEADER
		&& (is_time(signer, expr)
			|| delivery->header(expr->names.item[0], delivery->arg)
				== NULL)
		&& !signer->set(expr->names.item[0],
			um_str(is_time(signer, expr) ? signer->time : STAND_IN),
			delivery->arg))
		return false;
	for (size_t i = 0; i < expr->parts_len; i++)
		if (!complete(signer, &expr->parts[i]))
			return false;
	return true;
}

static const char *
sign(struct signer *signer)
{
	const struct um_scheme *scheme = signer->scheme;
	const struct um_delivery *delivery = signer->parsed->delivery;
	struct um_buf text = { 0 };
	char name[UM_EXPR_HEADER_MAX + 2];
	bool ok = true;

	if (!scheme->is_hmac)
		return "only an HMAC can be made with what the site has";
	if (scheme->from.kind != UM_EXPR_HEADER)
		return "the signature is not in a header";
	for (size_t i = 0; i < scheme->parts_len && ok; i++)
		ok = complete(signer, &scheme->parts[i]);
	ok = ok && complete(signer, &signer->part->timestamp)
		&& um_scheme_sign(scheme, signer->parsed,
			um_buf_str(&signer->params), &text);
	snprintf(name, sizeof(name), "%s%s", scheme->from.names.item[0],
		scheme->numbered ? "1" : "");
	ok = ok && signer->set(name, um_buf_str(&text), delivery->arg);
	um_buf_free(&text);
	return ok ? NULL : "a value that is signed is not in the request";
}

const char *
um_sign(const struct um_spec_part *part, const struct um_delivery *delivery,
	bool (*set)(const char *name, struct um_str value, void *arg))
{
	struct um_parsed_delivery parsed = { .delivery = delivery,
		.payload = &part->payload };
	struct signer signer = { .part = part, .parsed = &parsed, .set = set };
	const char *reason = "no scheme has a secret";

	put_time(signer.time, delivery->now_ms, part->timestamp_form);
	for (size_t i = 0; i < part->schemes_len; i++) {
		signer.scheme = &part->schemes[i];
		if (um_verifier_count_keys(signer.scheme->verifier) == 0)
			continue;
		reason = sign(&signer);
		break;
	}
	um_buf_free(&signer.params);
	um_delivery_free(&parsed);
	return reason;
}
