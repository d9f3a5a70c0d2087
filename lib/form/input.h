/* SPDX-License-Identifier: MIT */
/* Reads one field of a definition. */
#ifndef UM_INPUT_H
#define UM_INPUT_H

#include "form/definition.h"
#include "form/place.h"

/* Adds the field at this place to definition->input. False: it is refused. */
bool um_input_read(struct um_definition *definition, const struct um_place *at);

#endif
