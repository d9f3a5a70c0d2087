/* SPDX-License-Identifier: MIT */
/* Keeps secrets out of core dumps. */
#ifndef UM_COREDUMP_H
#define UM_COREDUMP_H

/*
 * From now on a crash of this process writes no core dump. It changes the whole
 * process, so only a main() calls it.
 */
void um_forbid_core_dumps(void);

#endif
