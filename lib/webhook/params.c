/* SPDX-License-Identifier: MIT */
#include "webhook/params.h"

bool
um_params_parse(struct um_params *params, struct um_str text,
	const char *separator, const char *equals)
{
	params->len = 0;
	do {
		struct um_str value = um_str_trim(um_str_cut(&text, separator));
		struct um_str name = um_str_cut(&value, equals);

		if (params->len == UM_SIGNATURE_PARAMS_MAX || name.len == 0
			|| value.ptr == NULL)
			return false;
		params->param[params->len++] = (struct um_field){ name, value };
	} while (text.ptr != NULL);
	return true;
}
