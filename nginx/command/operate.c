/* SPDX-License-Identifier: MIT */
/* What the shell of the command urlmode cannot read itself. */
#include "operate/main.h"

int
main(int argc, char **argv)
{
	return um_operate_main(argc, argv);
}
