/* SPDX-License-Identifier: MIT */
#include "form/schema_fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_SHOWN 32 /* bytes */

static size_t
put_char(struct um_schema_fault *fault, size_t len, char c)
{
	if (len + 1 >= sizeof(fault->pointer))
		return len;
	fault->pointer[len] = c;
	return len + 1;
}

size_t
um_schema_enter(struct um_schema_fault *fault, struct um_str name)
{
	size_t before = strlen(fault->pointer);
	size_t len = put_char(fault, before, '/');

	for (size_t i = 0; i < name.len && i < NAME_MAX_SHOWN; i++) {
		bool escapes = name.ptr[i] == '~' || name.ptr[i] == '/';

		len = put_char(fault, len, (char)(escapes ? '~' : name.ptr[i]));
		if (escapes)
			len = put_char(fault, len,
				(char)(name.ptr[i] == '~' ? '0' : '1'));
	}
	fault->pointer[len] = '\0';
	return before;
}

void
um_schema_leave(struct um_schema_fault *fault, size_t before)
{
	fault->pointer[before] = '\0';
}

bool
um_schema_refuse_here(struct um_schema_fault *fault, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(fault->must, sizeof(fault->must), format, values);
	va_end(values);
	return false;
}

bool
um_schema_refuse(struct um_schema_fault *fault, const char *pointer,
	const char *format, ...)
{
	va_list values;

	snprintf(fault->pointer, sizeof(fault->pointer), "%s", pointer);
	va_start(values, format);
	vsnprintf(fault->must, sizeof(fault->must), format, values);
	va_end(values);
	return false;
}
