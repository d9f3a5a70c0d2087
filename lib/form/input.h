/* SPDX-License-Identifier: MIT */
/* Reads one field of a definition. */
#ifndef UM_INPUT_H
#define UM_INPUT_H

#include "form/field.h"
#include "form/place.h"

/* Reads the field at this place. False: it is refused. */
bool um_input_read(struct um_input *input, const struct um_place *at);

#endif
