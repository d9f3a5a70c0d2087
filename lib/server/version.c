/* SPDX-License-Identifier: MIT */
#include "server/version.h"

/* The Makefile says it. */
#ifndef UM_VERSION
#define UM_VERSION "unknown"
#endif

const char *
um_version(void)
{
	return UM_VERSION;
}
