/* SPDX-License-Identifier: MIT */
#include "webhook/spec.h"

#include <stdio.h>
#include <stdlib.h>

#include "webhook/event_read.h"

void
um_spec_free(struct um_spec *spec)
{
	if (spec == NULL)
		return;
	um_spec_part_free(&spec->webhook);
	um_spec_part_free(&spec->back);
	um_spec_part_free(&spec->list);
	free(spec->issuer);
	json_decref(spec->response);
	free(spec->path);
	free(spec->answer.body);
	free(spec->answer.content_type);
	free(spec);
}

bool
um_spec_certificates_end(const struct um_spec *spec, int64_t *out)
{
	const struct um_spec_part *const parts[] = { &spec->webhook,
		&spec->back };
	bool any = false;
	int64_t end;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (size_t j = 0; j < parts[i]->schemes_len; j++) {
			if (!um_verifier_end(parts[i]->schemes[j].verifier,
				    &end))
				continue;
			*out = any && *out < end ? *out : end;
			any = true;
		}
	return any;
}

bool
um_spec_compared(const struct um_spec *spec, int64_t *out)
{
	const struct um_spec_part *const parts[] = { &spec->webhook,
		&spec->back };

	*out = spec->compared_ms;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (size_t j = 0; j < parts[i]->schemes_len; j++) {
			int64_t day = parts[i]->schemes[j].compared_ms;

			if (day != 0 && (*out == 0 || day < *out))
				*out = day;
		}
	return *out != 0;
}

bool
um_spec_read_keys(struct um_spec *spec, struct um_error *err)
{
	struct um_spec_part *const parts[] = { &spec->webhook, &spec->back };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (size_t j = 0; j < parts[i]->schemes_len; j++)
			if (!um_scheme_read_keys(&parts[i]->schemes[j], err))
				return false;
	return true;
}

/* What has been read of a delivery. */
struct reading {
	struct um_event *event;
	size_t *len;
	size_t item; /* the number of the element of `events`; 0: none */
	struct um_misread misread; /* why it is not readable */
};

/* Checks the timestamp of a delivery whose signature is right. */
static enum um_verdict
check_time(const struct um_spec_part *part, const struct um_source *source)
{
	const int64_t now = source->parsed->delivery->now_ms;
	int64_t then;
	struct um_value value;
	enum um_verdict verdict = UM_DELIVERY_FORGED;
	enum um_found found;

	if (part->timestamp.kind == UM_EXPR_NONE || source->has_only_token)
		return UM_DELIVERY_GOOD;
	found = um_expr_eval(&part->timestamp, source, &value);
	if (found == UM_ABSENT)
		verdict = UM_DELIVERY_UNSIGNED;
	else if (found == UM_FOUND
		&& um_timestamp_parse(&then, value.text, part->timestamp_form))
		verdict = now - then > part->past_ms
				|| then - now > part->future_ms
			? UM_DELIVERY_STALE
			: UM_DELIVERY_GOOD;
	um_value_free(&value);
	return verdict;
}

static enum um_verdict
verdict_of(enum um_verify_error error)
{
	switch (error) {
	case UM_VERIFY_OUT_OF_DATE:
		return UM_DELIVERY_OUTDATED;
	case UM_VERIFY_UNKNOWN_KEY:
		return UM_DELIVERY_KEYLESS;
	default:
		return UM_DELIVERY_FORGED;
	}
}

/* Tries the schemes that have keys: those of tokens, or the others. */
static enum um_verdict
try(const struct um_spec_part *part, const struct um_source *source,
	struct um_signature *signature, bool is_token)
{
	enum um_verdict verdict = UM_DELIVERY_UNSIGNED;

	for (size_t i = 0; i < part->schemes_len; i++) {
		const struct um_scheme *scheme = &part->schemes[i];

		if (!scheme->has_keys || scheme->is_token != is_token)
			continue;
		switch (um_scheme_check(scheme, source, signature)) {
		case UM_CHECK_RIGHT:
			return UM_DELIVERY_GOOD;
		case UM_CHECK_WRONG:
			verdict = verdict_of(signature->error);
			break;
		case UM_CHECK_NONE:
			break;
		}
	}
	return verdict;
}

/*
 * A delivery is good if any of the schemes matches. Only one that has no
 * signature at all may have a token instead, which proves nothing of what it
 * says: whoever knows the token alone can neither replace a signature nor say
 * that something was paid.
 */
static enum um_verdict
verify(const struct um_spec_part *part, struct um_source *source,
	struct um_signature *signature)
{
	enum um_verdict verdict = try(part, source, signature, false);

	source->has_only_token = false;
	if (verdict != UM_DELIVERY_UNSIGNED)
		return verdict;
	verdict = try(part, source, signature, true);
	source->has_only_token = verdict == UM_DELIVERY_GOOD
		&& part->trust != UM_TRUST_TOKEN;
	return verdict;
}

static enum um_verdict
refuse(struct reading *reading, enum um_verdict verdict, const char *place,
	const char *reason)
{
	reading->misread = (struct um_misread){ place, NULL, reason, false };
	return verdict;
}

static enum um_verdict
read_event(struct reading *reading, const struct um_spec_part *part,
	const struct um_source *source, bool is_ambiguous)
{
	if (*reading->len == part->events_max)
		return refuse(reading, UM_DELIVERY_MALFORMED, "/events",
			"has more elements than a delivery may have events");
	if (!um_event_read(&reading->event[*reading->len], part, source,
		    *reading->len, is_ambiguous, &reading->misread))
		return UM_DELIVERY_MALFORMED;
	++*reading->len;
	return UM_DELIVERY_GOOD;
}

/* Reads one event from each element; verifies those that are signed. */
static enum um_verdict
read_items(struct reading *reading, const struct um_spec_part *part,
	struct um_source *source, struct um_signature *signature)
{
	enum um_verdict verdict = UM_DELIVERY_GOOD;

	while (verdict == UM_DELIVERY_GOOD
		&& (source->item = um_json_next(source->parsed->events,
			    source->item))
			!= NULL) {
		reading->item++;
		if (part->of_items)
			verdict = verify(part, source, signature);
		if (part->of_items && verdict == UM_DELIVERY_GOOD)
			verdict = check_time(part, source);
		if (verdict == UM_DELIVERY_GOOD)
			verdict = read_event(reading, part, source,
				signature->is_ambiguous);
	}
	/* An empty list has no signature. */
	return part->of_items && reading->item == 0 ? UM_DELIVERY_UNSIGNED
						    : verdict;
}

static enum um_verdict
read_events(struct reading *reading, const struct um_spec_part *part,
	struct um_source *source, struct um_signature *signature)
{
	const struct um_parsed *parsed = source->parsed;
	/* A document that is not readable cannot contain its signature. */
	enum um_verdict unreadable = part->of_items ? UM_DELIVERY_UNSIGNED
						    : UM_DELIVERY_MALFORMED;

	if (part->uses_json && parsed->document == NULL)
		return refuse(reading, unreadable, "/payload",
			parsed->json_reason);
	if (!part->payload.has_events)
		return read_event(reading, part, source,
			signature->is_ambiguous);
	if (parsed->events == NULL)
		return refuse(reading, unreadable, "/events",
			"is not a list, or is there twice");
	return read_items(reading, part, source, signature);
}

/*
 * A challenge that is a POST is verified like any delivery. Nothing signs one
 * that is a GET: a MAC in its answer is of digits only.
 */
static bool
is_answered_challenge(const struct um_spec_part *part,
	const struct um_source *source)
{
	const struct um_delivery *delivery = source->parsed->delivery;
	struct um_source with_mac = *source;

	if (!part->challenge.exists || delivery->reply == NULL
		|| part->challenge.is_get != delivery->is_get)
		return false;
	if (!delivery->is_get
		&& (part->of_items || part->trust == UM_TRUST_NOTHING
			|| source->has_only_token))
		return false;
	with_mac.mac = part->schemes[0].verifier;
	with_mac.mac_of_digits = delivery->is_get;
	return um_challenge_answer(&part->challenge, &with_mac,
		delivery->reply);
}

/* What a right signature proves, if its time is right: a challenge, or events. */
static enum um_verdict
read_proven(struct reading *reading, const struct um_spec_part *part,
	struct um_source *source, struct um_signature *signature)
{
	bool is_malformed = source->parsed->is_malformed;
	enum um_verdict verdict = UM_DELIVERY_GOOD;

	if (!part->of_items)
		verdict = check_time(part, source);
	if (verdict == UM_DELIVERY_GOOD && !is_malformed
		&& is_answered_challenge(part, source))
		return UM_DELIVERY_GOOD;
	if (verdict == UM_DELIVERY_GOOD)
		verdict = read_events(reading, part, source, signature);
	if (verdict == UM_DELIVERY_GOOD && is_malformed)
		return refuse(reading, UM_DELIVERY_MALFORMED, "/payload",
			"is in a query or body that is not well formed, or "
			"over a limit");
	return verdict;
}

static void
put_fault(struct um_fault *fault, const struct reading *reading)
{
	const struct um_misread *misread = &reading->misread;
	struct um_buf text = { 0 };

	if (fault == NULL || misread->place == NULL)
		return;
	if (reading->item != 0)
		um_buf_printf(&text, "event %zu: ", reading->item);
	um_buf_cat(&text, misread->place, ": ");
	if (misread->at != NULL) {
		um_pointer_put(misread->at, &text);
		um_buf_puts(&text, " ");
	}
	um_buf_cat(&text, misread->reason);
	if (!text.failed)
		snprintf(fault->text, sizeof(fault->text), "%.*s",
			(int)text.len, text.ptr);
	um_buf_free(&text);
}

/* Verifies the delivery, and reads of it what is read after that. */
static enum um_verdict
read_signed(struct reading *reading, const struct um_spec_part *part,
	struct um_source *source, struct um_parsed *parsed,
	struct um_signature *signature)
{
	enum um_verdict verdict = UM_DELIVERY_GOOD;

	if (!part->of_items && part->trust != UM_TRUST_NOTHING)
		verdict = verify(part, source, signature);
	if (verdict == UM_DELIVERY_GOOD) {
		um_parsed_read(parsed, &part->payload, part->event_needs, true);
		return read_proven(reading, part, source, signature);
	}
	if (verdict == UM_DELIVERY_UNSIGNED && part->challenge.is_unsigned) {
		um_parsed_read(parsed, &part->payload, part->challenge_needs,
			false);
		if (!parsed->is_malformed
			&& is_answered_challenge(part, source))
			return UM_DELIVERY_GOOD;
	}
	if (parsed->json_reason[0] != '\0')
		refuse(reading, verdict, "/payload", parsed->json_reason);
	else if (verdict == UM_DELIVERY_OUTDATED)
		refuse(reading, verdict, "/verify",
			"the certificate is not valid now");
	else if (verdict == UM_DELIVERY_KEYLESS)
		refuse(reading, verdict, "/verify",
			"the key that the token names is not in jwks_file");
	return verdict;
}

enum um_verdict
um_spec_read(const struct um_spec_part *part,
	const struct um_delivery *delivery, struct um_event *events,
	size_t *len)
{
	struct reading reading = { .event = events, .len = len };
	struct um_parsed parsed = { .delivery = delivery };
	struct um_signature signature = { 0 };
	struct um_source source = { .parsed = &parsed,
		.params = &signature.params,
		.claims = &signature.claims };
	enum um_verdict verdict = UM_DELIVERY_UNSIGNED;

	*len = 0;
	um_parsed_read(&parsed, &part->payload,
		delivery->is_get ? part->challenge_needs
				 : part->signature_needs,
		false);
	if (!delivery->is_get)
		verdict = read_signed(&reading, part, &source, &parsed,
			&signature);
	else if (is_answered_challenge(part, &source))
		verdict = UM_DELIVERY_GOOD;
	if (verdict != UM_DELIVERY_GOOD) {
		*len = 0;
		put_fault(delivery->fault, &reading);
	}
	um_signature_free(&signature);
	um_parsed_free(&parsed);
	return verdict;
}
