/* SPDX-License-Identifier: MIT */
#include "config/pages.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "core/url.h"
#include "http/style.h"

/* WCAG 2.2, 1.4.11: the contrast of a button with its surroundings. */
#define CONTRAST_MIN 3.0

#define NAME_MAX_LEN 100 /* bytes */
#define URL_MAX_LEN 2048

/* A link with one of these can run code, or show content from elsewhere. */
static const char *const never_schemes[] = { "about", "blob", "data", "file",
	"filesystem", "http", "https", "javascript", "vbscript", "view-source",
	NULL };

void
um_pages_free(struct um_brand *brand)
{
	free(brand->name);
	free(brand->logo_url);
	free(brand->style);
	free(brand->style_hash);
	free(brand->return_to);
	free(brand->switch_user);
	*brand = (struct um_brand){ 0 };
}

static bool
read_name(const struct um_conf_loc *at, const json_t *object,
	struct um_brand *brand)
{
	const char *name;

	if (!um_conf_get_text(at, object, "name", false, &name))
		return false;
	if (name == NULL)
		return true;
	if (strlen(name) > NAME_MAX_LEN)
		return um_conf_member_error(at, "name",
			"is longer than 100 bytes");
	for (const char *p = name; *p != '\0'; p++)
		if (iscntrl((unsigned char)*p))
			return um_conf_member_error(at, "name",
				"has a control character");
	return um_conf_copy_text(at, name, &brand->name);
}

/* A path on this host: one slash, then characters that need no escape. */
static bool
is_path(const char *url)
{
	size_t len = strlen(url);

	if (url[0] != '/' || url[1] == '/' || len > URL_MAX_LEN)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)url[i])
			&& strchr("/._~-%", url[i]) == NULL)
			return false;
	return strstr(url, "/.") == NULL;
}

static bool
read_logo_url(const struct um_conf_loc *at, const json_t *object,
	struct um_brand *brand)
{
	const char *url;

	if (!um_conf_get_text(at, object, "logo_url", false, &url))
		return false;
	if (url == NULL)
		return true;
	if (brand->name == NULL)
		return um_conf_member_error(at, "name",
			"is missing: it is the text of the logo for those who "
			"do not see it");
	if (!is_path(url))
		return um_conf_member_error(at, "logo_url",
			"is not the path of an image on this host");
	return um_conf_copy_text(at, url, &brand->logo_url);
}

/* Relative luminance (WCAG 2.2) of #rrggbb. */
static double
luminance(const char *colour)
{
	static const double weights[] = { 0.2126, 0.7152, 0.0722 };
	unsigned long rgb = strtoul(colour + 1, NULL, 16);
	double sum = 0;

	for (int i = 0; i < 3; i++) {
		double c = (double)((rgb >> (16 - 8 * i)) & 0xff) / 255;

		sum += weights[i]
			* (c <= 0.04045 ? c / 12.92
					: pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

static double
contrast(const char *a, const char *b)
{
	double one = luminance(a) + 0.05, other = luminance(b) + 0.05;

	return one > other ? one / other : other / one;
}

/* Of black and white one always has a contrast of 4.58 or more. */
static const char *
text_on(const char *colour)
{
	return contrast(colour, "#ffffff") >= contrast(colour, "#000000")
		? "#ffffff"
		: "#000000";
}

static bool
check_colour(const struct um_conf_loc *at, const char *key, const char *colour,
	const char *card, const char *scheme)
{
	struct um_conf_loc here = um_conf_member(at, key);
	double found;

	if (strlen(colour) != 7 || colour[0] != '#'
		|| strspn(colour + 1, "0123456789abcdefABCDEF") != 6)
		return um_conf_error(&here,
			"is not a colour of the form #rrggbb");
	found = contrast(colour, card);
	return found >= CONTRAST_MIN
		|| um_conf_error(&here,
			"has a contrast of %.1f with the page in the %s "
			"scheme; %.0f is the least",
			floor(found * 10) / 10, scheme, CONTRAST_MIN);
}

static bool
hash_style(const struct um_conf_loc *at, struct um_brand *brand)
{
	char hash[sizeof("sha256-") + 44] = "sha256-";
	unsigned char digest[32];

	if (EVP_Digest(brand->style, strlen(brand->style), digest, NULL,
		    EVP_sha256(), NULL)
		!= 1)
		return um_conf_error(at, "out of memory");
	EVP_EncodeBlock((unsigned char *)strchr(hash, '\0'), digest,
		sizeof(digest));
	return um_conf_copy_text(at, hash, &brand->style_hash);
}

/* One colour for both schemes, or one for each. */
static bool
read_accent(const struct um_conf_loc *at, const json_t *object,
	struct um_brand *brand)
{
	const char *light, *dark;
	char style[256];

	if (!um_conf_get_text(at, object, "accent", false, &light)
		|| !um_conf_get_text(at, object, "accent_dark", false, &dark))
		return false;
	if (light == NULL)
		return dark == NULL
			|| um_conf_member_error(at, "accent",
				"is missing beside `accent_dark`");
	if (!check_colour(at, "accent", light, UM_STYLE_CARD_LIGHT, "light")
		|| !check_colour(at, dark != NULL ? "accent_dark" : "accent",
			dark != NULL ? dark : light, UM_STYLE_CARD_DARK,
			dark != NULL ? "dark" : "dark (see accent_dark)"))
		return false;
	if (dark == NULL)
		dark = light;
	snprintf(style, sizeof(style),
		":root{--accent:%s;--on-accent:%s}"
		"@media(prefers-color-scheme:dark){"
		":root{--accent:%s;--on-accent:%s}}",
		light, text_on(light), dark, text_on(dark));
	return um_conf_copy_text(at, style, &brand->style)
		&& hash_style(at, brand);
}

/* The length of a scheme in lower case (RFC 3986 section 3.1), or 0. */
static size_t
scheme_len(const char *url)
{
	size_t len = 0;

	while (islower((unsigned char)url[len])
		|| (len != 0
			&& (isdigit((unsigned char)url[len])
				|| (url[len] != '\0'
					&& strchr("+-.", url[len]) != NULL))))
		len++;
	return len;
}

static bool
read_schemes(const struct um_conf_loc *at, const json_t *object,
	struct um_strlist *schemes)
{
	struct um_conf_loc list = um_conf_member(at, "return_schemes");
	const json_t *node = json_object_get(object, "return_schemes");

	if (node == NULL)
		return true;
	if (!um_conf_get_strlist(schemes, &list, node, false))
		return false;
	for (size_t i = 0; i < schemes->len; i++) {
		struct um_conf_loc here = um_conf_element(&list, i);
		const char *scheme = schemes->item[i];

		if (scheme_len(scheme) != strlen(scheme))
			return um_conf_error(&here,
				"is not a scheme in lower case, without the "
				"colon");
		for (size_t j = 0; never_schemes[j] != NULL; j++)
			if (strcmp(scheme, never_schemes[j]) == 0)
				return um_conf_error(&here,
					"is not the scheme of an application");
	}
	return true;
}

/* Of characters that stand in a URL as they are (RFC 3986). */
static bool
is_plain(const char *url)
{
	if (strlen(url) > URL_MAX_LEN)
		return false;
	for (const char *p = url; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || strchr("\"<>\\^`{|}", *p) != NULL)
			return false;
	return true;
}

/* https with a host, http on loopback, or a scheme that is listed. */
static bool
may_return_to(const char *url, const struct um_strlist *schemes)
{
	struct um_str scheme = { url, scheme_len(url) };

	return is_plain(url)
		&& (um_url_authority_end(url) != NULL
			|| (url[scheme.len] == ':'
				&& um_strlist_has(schemes, scheme)));
}

static bool
read_switch_user(const struct um_conf_loc *at, const json_t *object,
	struct um_brand *brand)
{
	const char *url;

	if (!um_conf_get_text(at, object, "switch_user", false, &url))
		return false;
	if (url == NULL)
		return true;
	if (!is_plain(url)
		|| (um_url_authority_end(url) == NULL
			&& (url[0] != '/' || url[1] == '/')))
		return um_conf_member_error(at, "switch_user",
			"is neither https:// with a host nor a path on this "
			"host");
	return um_conf_copy_text(at, url, &brand->switch_user);
}

static bool
read_return_to(const struct um_conf_loc *at, const json_t *object,
	struct um_brand *brand)
{
	struct um_strlist schemes = { 0 };
	const char *url;
	bool ok = um_conf_get_text(at, object, "return_to", false, &url)
		&& read_schemes(at, object, &schemes);

	if (ok && url != NULL)
		ok = may_return_to(url, &schemes)
			? um_conf_copy_text(at, url, &brand->return_to)
			: um_conf_member_error(at, "return_to",
				"is neither https:// with a host nor a URL "
				"whose scheme is in return_schemes");
	um_strlist_free(&schemes);
	return ok;
}

bool
um_pages_load(struct um_brand *brand, const struct um_conf_loc *at,
	json_t *object)
{
	static const char *const keys[] = { "name", "logo_url", "accent",
		"accent_dark", "return_to", "return_schemes", "switch_user",
		NULL };

	*brand = (struct um_brand){ 0 };
	return object == NULL
		|| (um_conf_check_keys(at, object, keys)
			&& read_name(at, object, brand)
			&& read_logo_url(at, object, brand)
			&& read_accent(at, object, brand)
			&& read_return_to(at, object, brand)
			&& read_switch_user(at, object, brand));
}
