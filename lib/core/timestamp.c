/* SPDX-License-Identifier: MIT */
#include "core/timestamp.h"

#define DIGITS_MAX 15 /* far from overflow, in milliseconds or seconds */

/* Takes `count` digits off the front. */
static bool
take_digits(struct um_str *text, size_t count, int64_t *out)
{
	*out = 0;
	if (text->len < count)
		return false;
	for (size_t i = 0; i < count; i++) {
		char c = text->ptr[i];

		if (c < '0' || c > '9')
			return false;
		*out = *out * 10 + (c - '0');
	}
	text->ptr += count;
	text->len -= count;
	return true;
}

static bool
take(struct um_str *text, char c)
{
	if (text->len == 0 || *text->ptr != c)
		return false;
	text->ptr++;
	text->len--;
	return true;
}

/* Days from 1970-01-01 in the Gregorian calendar. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
	/* Years begin in March here, so that the leap day is their last. */
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t m = month <= 2 ? month + 9 : month - 3;
	int64_t leap_days = y / 4 - y / 100 + y / 400;

	return 365 * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool
is_date(int64_t year, int64_t month, int64_t day)
{
	static const int64_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30,
		31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (month < 1 || month > 12 || day < 1)
		return false;
	return day <= lengths[month - 1] + (month == 2 && leap);
}

/* `Z`, or hours and minutes east or west; in minutes. */
static bool
take_zone(struct um_str *text, int64_t *offset)
{
	int64_t hours, minutes;
	bool west;

	*offset = 0;
	if (take(text, 'Z'))
		return true;
	west = take(text, '-');
	if (!west && !take(text, '+'))
		return false;
	if (!take_digits(text, 2, &hours) || !take(text, ':')
		|| !take_digits(text, 2, &minutes) || hours > 23
		|| minutes > 59)
		return false;
	*offset = (hours * 60 + minutes) * (west ? -1 : 1);
	return true;
}

/* A fraction of a second, if there is one, in milliseconds, rounded down. */
static bool
take_fraction(struct um_str *text, int64_t *ms)
{
	int64_t digit, scale = 100;
	size_t count = 0;

	*ms = 0;
	if (!take(text, '.'))
		return true;
	for (; take_digits(text, 1, &digit); count++) {
		*ms += digit * scale;
		scale /= 10;
	}
	return count != 0 && count <= DIGITS_MAX;
}

static bool
parse_rfc3339(int64_t *ms, struct um_str text)
{
	int64_t year, month, day, hour, minute, second, fraction, offset;

	if (!take_digits(&text, 4, &year) || !take(&text, '-')
		|| !take_digits(&text, 2, &month) || !take(&text, '-')
		|| !take_digits(&text, 2, &day) || !take(&text, 'T')
		|| !take_digits(&text, 2, &hour) || !take(&text, ':')
		|| !take_digits(&text, 2, &minute) || !take(&text, ':')
		|| !take_digits(&text, 2, &second)
		|| !take_fraction(&text, &fraction)
		|| !take_zone(&text, &offset) || text.len != 0)
		return false;
	if (!is_date(year, month, day) || hour > 23 || minute > 59
		|| second > 59)
		return false;
	minute += days_of(year, month, day) * 1440 + hour * 60 - offset;
	*ms = (minute * 60 + second) * 1000 + fraction;
	return true;
}

bool
um_timestamp_parse(int64_t *ms, struct um_str text, enum um_timestamp_form form)
{
	*ms = 0;
	if (form == UM_TIMESTAMP_RFC3339)
		return parse_rfc3339(ms, text);
	if (text.len == 0 || text.len > DIGITS_MAX
		|| !take_digits(&text, text.len, ms))
		return false;
	if (form == UM_TIMESTAMP_UNIX)
		*ms *= 1000;
	return true;
}
