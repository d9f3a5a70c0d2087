/* SPDX-License-Identifier: MIT */
#include "core/coredump.h"

#include <sys/prctl.h>
#include <sys/resource.h>

/*
 * A core handler that the kernel pipes cores to ignores a limit of 0, but not of
 * 1 (core(5)). Where the hard limit is 0, as in many containers, it cannot be
 * raised to 1. The process is made undumpable there.
 */
void
um_forbid_core_dumps(void)
{
	const struct rlimit limit = { 1, 1 };

	if (setrlimit(RLIMIT_CORE, &limit) != 0)
		prctl(PR_SET_DUMPABLE, 0);
}
