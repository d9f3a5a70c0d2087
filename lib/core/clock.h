/* SPDX-License-Identifier: MIT */
/*
 * The machine's clocks. Only the outermost layers read them: every other
 * function is given the time by its caller.
 */
#ifndef UM_CLOCK_H
#define UM_CLOCK_H

#include <stdint.h>

/* Milliseconds and microseconds of a clock that is never set back. */
int64_t um_clock_ms(void);
int64_t um_clock_us(void);

/* Unix time in milliseconds. */
int64_t um_clock_wall_ms(void);

#endif
