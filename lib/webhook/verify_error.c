/* SPDX-License-Identifier: MIT */
#include "webhook/verify_error.h"

const char *
um_verify_error_text(enum um_verify_error error)
{
	static const char *const texts[] = {
#define X(name, text) text,
		UM_VERIFY_ERRORS(X)
#undef X
	};

	return texts[error];
}
