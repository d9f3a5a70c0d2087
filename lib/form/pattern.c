/* SPDX-License-Identifier: MIT */
#include "form/pattern.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>

#define COUNT_MAX 255
#define ASCII 128

/* One character of the text, at most, or any number of them. */
struct position {
	bool accepts[ASCII];
	bool is_optional;
	bool repeats;
	bool ends; /* it is the last one of its sequence */
};

struct um_pattern {
	size_t len;
	struct position at[UM_PATTERN_POSITIONS_MAX];
};

struct count {
	size_t least, most;
	bool is_open; /* there is no greatest count */
};

static bool
take(struct um_str *text, char c)
{
	if (text->len == 0 || text->ptr[0] != c)
		return false;
	text->ptr++;
	text->len--;
	return true;
}

/* A printable character of ASCII, with `\` before it if it is one of `special`. */
static bool
take_char(struct um_str *text, const char *special, char *out)
{
	bool escaped = take(text, '\\');

	if (text->len == 0)
		return false;
	*out = text->ptr[0];
	if (*out < ' ' || *out > '~'
		|| (escaped ? !ispunct((unsigned char)*out)
			    : strchr(special, *out) != NULL))
		return false;
	text->ptr++;
	text->len--;
	return true;
}

/* After the bracket. */
static bool
take_class(struct um_str *text, bool accepts[static ASCII])
{
	bool is_empty = true;

	while (!take(text, ']')) {
		char first, last;

		if ((is_empty || (text->len > 1 && text->ptr[1] == ']'))
			&& take(text, '-')) {
			accepts['-'] = true;
			is_empty = false;
			continue;
		}
		if (!take_char(text, "\\[]^-", &first))
			return false;
		last = first;
		if (text->len > 1 && text->ptr[0] == '-' && text->ptr[1] != ']'
			&& (!take(text, '-')
				|| !take_char(text, "\\[]^-", &last)))
			return false;
		if (last < first)
			return false;
		for (char c = first; c <= last; c++)
			accepts[(unsigned char)c] = true;
		is_empty = false;
	}
	return !is_empty;
}

static bool
take_number(struct um_str *text, size_t *out)
{
	size_t digits = 0;

	*out = 0;
	while (text->len != 0 && isdigit((unsigned char)text->ptr[0])) {
		*out = *out * 10 + (size_t)(text->ptr[0] - '0');
		if (++digits > 3)
			return false;
		text->ptr++;
		text->len--;
	}
	return digits != 0 && *out <= COUNT_MAX;
}

static bool
take_count(struct um_str *text, struct count *count)
{
	*count = (struct count){ 1, 1, false };
	if (take(text, '?')) {
		count->least = 0;
	} else if (take(text, '*')) {
		*count = (struct count){ 0, 1, true };
	} else if (take(text, '+')) {
		count->is_open = true;
	} else if (take(text, '{')) {
		if (!take_number(text, &count->least))
			return false;
		count->most = count->least;
		if (take(text, ',')) {
			count->is_open = text->len != 0 && text->ptr[0] == '}';
			if (count->is_open)
				count->most = count->least != 0 ? count->least
								: 1;
			else if (!take_number(text, &count->most))
				return false;
		}
		if (!take(text, '}'))
			return false;
	}
	return count->most != 0 && count->least <= count->most;
}

static bool
take_item(struct um_pattern *pattern, struct um_str *text)
{
	bool accepts[ASCII] = { false };
	struct count count;
	char c;

	if (take(text, '[')) {
		if (!take_class(text, accepts))
			return false;
	} else {
		if (!take_char(text, "\\.*+?()[]{}|^$", &c))
			return false;
		accepts[(unsigned char)c] = true;
	}
	if (!take_count(text, &count)
		|| count.most > UM_PATTERN_POSITIONS_MAX - pattern->len)
		return false;
	for (size_t i = 0; i < count.most; i++) {
		struct position *position = &pattern->at[pattern->len++];

		memcpy(position->accepts, accepts, sizeof(accepts));
		position->is_optional = i >= count.least;
		position->repeats = count.is_open && i == count.most - 1;
	}
	return true;
}

struct um_pattern *
um_pattern_compile(struct um_str text)
{
	struct um_pattern *pattern;

	if (text.len == 0 || text.len > UM_PATTERN_MAX)
		return NULL;
	pattern = calloc(1, sizeof(*pattern));
	if (pattern == NULL)
		return NULL;
	for (;;) {
		if (!take_item(pattern, &text))
			break;
		if (text.len != 0 && text.ptr[0] != '|')
			continue;
		pattern->at[pattern->len - 1].ends = true;
		if (text.len == 0)
			return pattern;
		take(&text, '|');
	}
	free(pattern);
	return NULL;
}

/*
 * Runs all ways through one sequence side by side (Thompson 1968): state i says
 * that what came so far fits the positions before i.
 */
static bool
sequence_matches(const struct position *at, size_t len, struct um_str text)
{
	bool now[UM_PATTERN_POSITIONS_MAX + 1] = { true };
	bool next[UM_PATTERN_POSITIONS_MAX + 1];
	bool is_alive = true;

	for (size_t n = 0; is_alive; n++) {
		unsigned char c;

		for (size_t i = 0; i < len; i++)
			now[i + 1] |= now[i] && at[i].is_optional;
		if (n == text.len)
			return now[len];
		c = (unsigned char)text.ptr[n];
		memset(next, 0, len + 1);
		is_alive = false;
		for (size_t i = 0; i < len && c < ASCII; i++) {
			if (!now[i] || !at[i].accepts[c])
				continue;
			next[i + 1] = is_alive = true;
			next[i] |= at[i].repeats;
		}
		memcpy(now, next, len + 1);
	}
	return false;
}

bool
um_pattern_matches(const struct um_pattern *pattern, struct um_str text)
{
	size_t begin = 0;

	for (size_t i = 0; i < pattern->len; i++) {
		if (!pattern->at[i].ends)
			continue;
		if (sequence_matches(pattern->at + begin, i + 1 - begin, text))
			return true;
		begin = i + 1;
	}
	return false;
}

void
um_pattern_free(struct um_pattern *pattern)
{
	free(pattern);
}
