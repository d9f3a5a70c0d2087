/* SPDX-License-Identifier: MIT */
/* The version: the first line of nginx/debian/changelog. */
#ifndef UM_VERSION_H
#define UM_VERSION_H

/* As MAJOR.MINOR.PATCH; a constant. */
const char *um_version(void);

#endif
