/* SPDX-License-Identifier: MIT */
/* An Accept-Language header in the first line, an SVG image in the others. */
#include <string.h>

#include "fuzz.h"
#include "http/svg.h"
#include "http/text.h"

/* What an image that was accepted may hold: nothing that is not drawn. */
static void
holds_nothing_else(struct um_buf *out)
{
	static const char *const never[] = { "<script", "<style", "<!", "<?",
		"href=", "style=", "&", "\\", "//", ":" };

	um_buf_put(out, "", 1);
	HOLDS(!out->failed);
	HOLDS(strncmp(out->ptr, "<svg", 4) == 0);
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		HOLDS(strstr(out->ptr, never[i]) == NULL);
	/* No value has a `=`: what is before one is a name. */
	for (const char *p = out->ptr; (p = strstr(p, " on")) != NULL; p++)
		HOLDS(p[3 + strspn(p + 3, "abcdefghijklmnopqrstuvwxyz")]
			!= '=');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct um_str rest = { (const char *)data, size };
	struct um_str header = fuzz_line(&rest);
	struct um_str svg = fuzz_rest(&rest);
	struct um_buf out = { 0 };
	struct um_error err = { "" };

	HOLDS(um_language_of(header) < UM_LANGUAGE_COUNT);
	if (um_svg_put(&out, svg, &err))
		holds_nothing_else(&out);
	else
		HOLDS(err.text[0] != '\0');
	um_buf_free(&out);
	fuzz_free(header);
	fuzz_free(svg);
	return 0;
}
