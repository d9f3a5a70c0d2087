/* SPDX-License-Identifier: MIT */
/*
 * Reads forms for tests/unit/forms.test.mjs: each line of standard input is
 * `input` or `approval`, a tab, and the form; each line of output is empty, or
 * says what is wrong with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form/definition.h"

int
main(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while ((len = getline(&line, &cap, stdin)) > 0) {
		struct um_str json = { line, (size_t)len };
		struct um_str kind = um_str_cut(&json, "\t");
		struct um_definition definition;
		struct um_schema_fault fault;

		um_str_take_suffix(&json, "\n");
		if (um_definition_read(&definition, json,
			    um_str_is(kind, "approval"), &fault))
			puts("");
		else
			printf("form%s %s\n", fault.pointer, fault.must);
		um_definition_free(&definition);
	}
	free(line);
	return 0;
}
