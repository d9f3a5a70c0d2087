/* SPDX-License-Identifier: MIT */
#include "http/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "http/escape.h"

static const char *const codes[] = {
#define X(name, code) code,
	UM_LANGUAGES(X)
#undef X
};

static const char *const texts[UM_LANGUAGE_COUNT][UM_TEXT_COUNT] = {
#define TEXT(language, name, text)                                             \
	[UM_LANGUAGE_##language][UM_TEXT_##name] = (text),
#include "http/texts.inc"
#undef TEXT
};

const char *
um_language_code(enum um_language language)
{
	return codes[language];
}

const char *
um_text(enum um_language language, enum um_text text)
{
	return texts[language][text];
}

/*
 * The weight in thousandths (RFC 9110 section 12.4.2); 0, which excludes the
 * range, if it is malformed.
 */
static int
parse_weight(struct um_str text)
{
	int weight, unit = 100;

	if (text.len == 0 || text.len > 5
		|| (text.ptr[0] != '0' && text.ptr[0] != '1')
		|| (text.len > 1 && text.ptr[1] != '.'))
		return 0;
	weight = text.ptr[0] == '1' ? 1000 : 0;
	for (size_t i = 2; i < text.len; i++, unit /= 10) {
		if (!isdigit((unsigned char)text.ptr[i]))
			return 0;
		weight += (text.ptr[i] - '0') * unit;
	}
	return weight <= 1000 ? weight : 0;
}

/* Takes the weight off `de;q=0.5`; *range becomes `de`. */
static int
weight_of(struct um_str *range)
{
	struct um_str rest = *range;
	struct um_str tag = um_str_trim(um_str_cut(&rest, ";"));
	struct um_str weight = um_str_trim(rest);

	*range = tag;
	if (rest.ptr == NULL)
		return 1000;
	if (weight.len < 2 || (weight.ptr[0] != 'q' && weight.ptr[0] != 'Q')
		|| weight.ptr[1] != '=')
		return 0;
	weight.ptr += 2;
	weight.len -= 2;
	return parse_weight(weight);
}

static bool
has_primary_subtag(struct um_str tag, const char *code)
{
	size_t len = strlen(code);

	return tag.len >= len && strncasecmp(tag.ptr, code, len) == 0
		&& (tag.len == len || tag.ptr[len] == '-');
}

enum um_language
um_language_of(struct um_str accept_language)
{
	enum um_language best = UM_LANGUAGE_EN;
	int best_weight = 0;

	while (accept_language.len != 0) {
		struct um_str range = um_str_cut(&accept_language, ",");
		int weight = weight_of(&range);

		for (int i = 0; i < UM_LANGUAGE_COUNT; i++)
			if (weight > best_weight
				&& has_primary_subtag(range, codes[i])) {
				best = (enum um_language)i;
				best_weight = weight;
			}
	}
	return best;
}

static struct um_str
value_of(struct um_str name, const struct um_text_value *values)
{
	for (; values != NULL && values->name != NULL; values++)
		if (um_str_is(name, values->name))
			return values->value;
	return (struct um_str){ 0 };
}

void
um_text_put(struct um_buf *out, enum um_language language, enum um_text text,
	const struct um_text_value *values, const char *before,
	const char *after)
{
	struct um_str rest = um_str(um_text(language, text));

	while (rest.len != 0) {
		um_escape_html_text(out, um_str_cut(&rest, "{"));
		if (rest.ptr == NULL)
			break;
		um_buf_puts(out, before);
		um_escape_html_text(out,
			value_of(um_str_cut(&rest, "}"), values));
		um_buf_puts(out, after);
	}
}

/* Groups of three digits, from the right, if there are enough. */
static void
put_number(struct um_buf *out, enum um_language language, struct um_str decimal)
{
	struct um_str rest = decimal;
	struct um_str whole = um_str_cut(&rest, ".");
	const char *group = whole.len
			>= strtoul(um_text(language, UM_TEXT_GROUP_FROM), NULL,
				10)
		? um_text(language, UM_TEXT_GROUP)
		: "";

	for (size_t i = 0; i < whole.len; i++) {
		if (i != 0 && (whole.len - i) % 3 == 0)
			um_buf_puts(out, group);
		um_buf_put(out, &whole.ptr[i], 1);
	}
	if (rest.len != 0) {
		um_buf_puts(out, um_text(language, UM_TEXT_DECIMAL));
		um_buf_put(out, rest.ptr, rest.len);
	}
}

void
um_text_put_amount(struct um_buf *out, enum um_language language,
	struct um_str decimal, struct um_str currency)
{
	struct um_buf number = { 0 };

	put_number(&number, language, decimal);
	um_text_put(out, language, UM_TEXT_AMOUNT,
		(const struct um_text_value[]){
			{ "number", um_buf_str(&number) },
			{ "currency", currency },
			{ 0 },
		},
		"", "");
	out->failed |= number.failed;
	um_buf_free(&number);
}
