/* SPDX-License-Identifier: MIT */
#include "form/formats.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

#include "contract/limits.h"
#include "contract/texts.h"
#include "form/characters.h"

#define IPV6_GROUPS 8
#define PORT_MAX 65535
#define LABEL_MAX 63 /* RFC 1035 section 2.3.4 */

bool
um_format_named(enum um_format *format, struct um_str name)
{
	static const char *const names[] = {
		[UM_FORMAT_DIGITS] = "digits",
		[UM_FORMAT_LETTERS] = "letters",
		[UM_FORMAT_ALPHANUMERIC] = "alphanumeric",
		[UM_FORMAT_HEX] = "hex",
		[UM_FORMAT_TOKEN] = "token",
	};

	for (int i = UM_FORMAT_DIGITS; i <= UM_FORMAT_TOKEN; i++) {
		if (!um_str_is(name, names[i]))
			continue;
		*format = (enum um_format)i;
		return true;
	}
	return false;
}

bool
um_format_fits(enum um_format format, struct um_str text)
{
	static int (*const is[])(int) = {
		[UM_FORMAT_DIGITS] = isdigit,
		[UM_FORMAT_LETTERS] = isalpha,
		[UM_FORMAT_ALPHANUMERIC] = isalnum,
		[UM_FORMAT_HEX] = isxdigit,
		[UM_FORMAT_TOKEN] = isgraph,
	};

	for (size_t i = 0; format != UM_FORMAT_ANY && i < text.len; i++)
		if (!is[format]((unsigned char)text.ptr[i]))
			return false;
	return true;
}

static size_t
digits_at(struct um_str text, size_t at)
{
	size_t len = 0;

	while (at + len < text.len
		&& isdigit((unsigned char)text.ptr[at + len]))
		len++;
	return len;
}

bool
um_format_number(double *number, struct um_str text)
{
	size_t at = text.len != 0 && text.ptr[0] == '-';
	size_t whole = digits_at(text, at), fraction = 0;
	char copy[UM_DIGITS_MAX + 3];

	if (whole == 0 || (whole > 1 && text.ptr[at] == '0'))
		return false;
	at += whole;
	if (at < text.len && text.ptr[at] == '.') {
		fraction = digits_at(text, at + 1);
		if (fraction == 0)
			return false;
		at += 1 + fraction;
	}
	if (at != text.len || whole + fraction > UM_DIGITS_MAX)
		return false;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = '\0';
	*number = strtod(copy, NULL);
	explicit_bzero(copy, sizeof(copy));
	return true;
}

static bool
is_each(struct um_str text, const char *others)
{
	for (size_t i = 0; i < text.len; i++)
		if (!isalnum((unsigned char)text.ptr[i])
			&& (text.ptr[i] == '\0'
				|| strchr(others, text.ptr[i]) == NULL))
			return false;
	return text.len != 0;
}

bool
um_is_email(struct um_str text)
{
	struct um_str host = text;
	struct um_str local = um_str_cut(&host, "@");

	if (host.len == 0 || !is_each(local, ".!#$%&'*+/=?^_`{|}~-"))
		return false;
	while (host.ptr != NULL) {
		struct um_str label = um_str_cut(&host, ".");

		if (!is_each(label, "-") || label.len > LABEL_MAX
			|| label.ptr[0] == '-'
			|| label.ptr[label.len - 1] == '-')
			return false;
	}
	return true;
}

static bool
begins_with(struct um_str *text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (text->len < len || strncasecmp(text->ptr, prefix, len) != 0)
		return false;
	text->ptr += len;
	text->len -= len;
	return true;
}

bool
um_is_url(struct um_str text)
{
	if (!begins_with(&text, "https://") && !begins_with(&text, "http://"))
		return false;
	return text.len != 0 && memchr(text.ptr, ' ', text.len) == NULL
		&& strchr("/?#:@", text.ptr[0]) == NULL;
}

/* 1 to 5 digits alone; -1 for anything else. */
static long
number_of(struct um_str text)
{
	long number = 0;

	if (text.len == 0 || text.len > 5 || digits_at(text, 0) < text.len)
		return -1;
	for (size_t i = 0; i < text.len; i++)
		number = number * 10 + (text.ptr[i] - '0');
	return number;
}

static bool
is_ipv4(struct um_str text)
{
	int count = 0;

	while (text.ptr != NULL) {
		struct um_str part = um_str_cut(&text, ".");

		if (number_of(part) < 0 || number_of(part) > 255
			|| (part.len > 1 && part.ptr[0] == '0'))
			return false;
		count++;
	}
	return count == 4;
}

/*
 * The groups of four hexadecimal digits; an IPv4 address at the end of the
 * whole address is two. More than IPV6_GROUPS: it is something else.
 */
static size_t
groups_of(struct um_str text, bool is_end)
{
	size_t count = 0;

	if (text.len == 0)
		return 0;
	while (text.ptr != NULL) {
		struct um_str group = um_str_cut(&text, ":");

		if (is_end && text.ptr == NULL && is_ipv4(group))
			return count + 2;
		if (group.len == 0 || group.len > 4)
			return IPV6_GROUPS + 1;
		for (size_t i = 0; i < group.len; i++)
			if (!isxdigit((unsigned char)group.ptr[i]))
				return IPV6_GROUPS + 1;
		count++;
	}
	return count;
}

/* RFC 3986 section 3.2.2. The rest begins after "::", or is NULL. */
static bool
is_ipv6(struct um_str rest)
{
	struct um_str before = um_str_cut(&rest, "::");

	if (rest.ptr == NULL)
		return groups_of(before, true) == IPV6_GROUPS;
	return groups_of(before, false) + groups_of(rest, true) < IPV6_GROUPS;
}

static bool
is_host_name(struct um_str name)
{
	struct um_str last;

	if (!is_each(name, "-._~!$&'()*+,;="))
		return false;
	um_str_take_suffix(&name, ".");
	last = name;
	while (last.len != 0 && memchr(last.ptr, '.', last.len) != NULL)
		um_str_cut(&last, ".");
	return name.len != 0
		&& (digits_at(last, 0) < last.len || last.len == 0
			|| is_ipv4(name));
}

/* What follows the host: a port, and then a path, a query or a fragment. */
static bool
is_rest(struct um_str rest)
{
	for (size_t i = 0; i < rest.len; i++)
		if (rest.ptr[i] < '!' || rest.ptr[i] > '~')
			return false;
	if (um_str_take_prefix(&rest, ":") && digits_at(rest, 0) != 0) {
		struct um_str port = { rest.ptr, digits_at(rest, 0) };

		if (number_of(port) < 1 || number_of(port) > PORT_MAX)
			return false;
		rest.ptr += port.len;
		rest.len -= port.len;
	}
	return rest.len == 0 || strchr("/?#", rest.ptr[0]) != NULL;
}

bool
um_is_link(struct um_str text)
{
	size_t len = 0;

	if (text.len > UM_LINK_MAX || !um_str_take_prefix(&text, "https://"))
		return false;
	if (um_str_take_prefix(&text, "[")) {
		struct um_str host = um_str_cut(&text, "]");

		return text.ptr != NULL && is_ipv6(host) && is_rest(text);
	}
	while (len < text.len && strchr(":/?#", text.ptr[len]) == NULL)
		len++;
	return is_host_name((struct um_str){ text.ptr, len })
		&& is_rest((struct um_str){ text.ptr + len, text.len - len });
}

static bool
is_name(struct um_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!islower((unsigned char)text.ptr[i])
			&& (i == 0
				|| (!isdigit((unsigned char)text.ptr[i])
					&& text.ptr[i] != '_')))
			return false;
	return text.len != 0 && text.len <= UM_FIELD_NAME_MAX;
}

static const char *
fault_in_line(struct um_str text)
{
	return um_characters_fault(text, "");
}

static const char *
fault_in_lines(struct um_str text)
{
	return um_characters_fault(text, "\n");
}

static const char *
fault_in_text(struct um_str text)
{
	return um_characters_fault(text, "\n\t");
}

/* The page trims what is sent. */
static const char *
fault_in_trimmed(struct um_str text)
{
	const char *fault = fault_in_line(text);

	if (fault == NULL && um_str_trim(text).len != text.len)
		fault = UM_TEXT_MUST_BE_TRIMMED;
	return fault;
}

static const char *
fault_in_name(struct um_str text)
{
	return is_name(text) ? NULL : UM_TEXT_MUST_BE_FIELD_NAME;
}

static const char *
fault_in_link(struct um_str text)
{
	return um_is_link(text) ? NULL : UM_TEXT_MUST_BE_LINK;
}

static const char *
fault_in_email(struct um_str text)
{
	return um_is_email(text) ? NULL : UM_TEXT_MUST_BE_EMAIL;
}

static const char *
fault_in_url(struct um_str text)
{
	const char *fault = fault_in_line(text);

	if (fault == NULL && !um_is_url(text))
		fault = UM_TEXT_MUST_BE_URL;
	return fault;
}

const char *
um_format_fault(struct um_str name, struct um_str text)
{
	static const struct {
		const char *name;
		const char *(*fault_in)(struct um_str text);
	} all[] = {
		{ "line", fault_in_line },
		{ "lines", fault_in_lines },
		{ "text", fault_in_text },
		{ "trimmed", fault_in_trimmed },
		{ "name", fault_in_name },
		{ "link", fault_in_link },
		{ "email", fault_in_email },
		{ "url", fault_in_url },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (um_str_is(name, all[i].name))
			return all[i].fault_in(text);
	return NULL;
}
