/* SPDX-License-Identifier: MIT */
#include "api/expected.h"

#include "api/price.h"
#include "contract/limits.h"
#include "contract/texts.h"
#include "contract/words.h"
#include "core/json_put.h"

enum match { EXACT, AT_LEAST, CHECKOUT };
static const char *const matches[] = { UM_MATCH_WORDS, NULL };

static void
check_price(struct um_buf *price, struct um_reader *reader,
	const char *description, int64_t amount, const char currency[static 4])
{
	int64_t step = 1;

	switch (um_price_put(price, um_str(description), amount, currency,
		&step)) {
	case UM_PRICE_WRITTEN:
	case UM_PRICE_UNKNOWN:
		break;
	case UM_PRICE_TOO_FINE:
		um_reader_refuse(reader, "amount", UM_TEXT_AMOUNT_STEP,
			(long long)step, "the provider", currency);
		break;
	case UM_PRICE_TOO_LARGE:
		um_reader_refuse(reader, "amount", UM_TEXT_AMOUNT_TOO_LARGE,
			"the provider");
		break;
	}
}

static void
read_price(struct um_expected *expected, struct um_reader *reader,
	const char *description, enum match match)
{
	struct um_str text = { 0 };
	char currency[4] = "";
	int64_t amount = 0;

	um_reader_int(reader, "amount", UM_REQUIRED, 0, UM_SAFE_INTEGER,
		&amount);
	if (um_reader_text(reader, "currency", UM_REQUIRED, 3, 3, &text)
		&& !um_price_currency(currency, text))
		um_reader_refuse(reader, "currency",
			"expected.currency must be a currency of ISO 4217");
	if (reader->fault->message[0] != '\0')
		return;
	check_price(&expected->price, reader, description, amount, currency);
	um_json_put_begin(&expected->json);
	um_json_put_key(&expected->json, um_str("amount"));
	um_json_put_int(&expected->json, amount);
	um_json_put_member(&expected->json, "currency", um_str(currency));
	if (match != EXACT)
		um_json_put_member(&expected->json, "match",
			um_str(matches[match]));
	um_json_put_end(&expected->json);
}

/* Its events name the checkout, and the call does. */
static void
check_checkout(struct um_reader *reader, struct um_reader *root,
	const char *description)
{
	const struct um_description *its = um_description_find(
		um_str(description));

	if (its != NULL && !its->checkout)
		um_reader_refuse(reader, "match", UM_TEXT_NO_CHECKOUT_IN_EVENTS,
			"this provider");
	if (um_reader_get(root, "target_url") != NULL
		&& um_reader_get(root, "checkout") == NULL)
		um_reader_refuse(root, "checkout",
			"expected.match checkout requires checkout, which "
			"names it");
}

void
um_expected_read(struct um_expected *expected, struct um_reader *root,
	const char *description, bool subscription)
{
	struct um_reader object;
	size_t match = EXACT;

	if (um_json_string_eq(um_reader_get(root, "expected"), um_str("any"))) {
		um_buf_puts(&expected->json, "\"any\"");
		if (subscription)
			um_reader_refuse(root, "expected",
				UM_TEXT_SUBSCRIPTION_WITHOUT_PRICE);
		return;
	}
	if (!um_reader_object(root, "expected", UM_REQUIRED, &object))
		return;
	um_reader_choice(&object, "match", UM_OPTIONAL, matches, &match);
	if (match == CHECKOUT)
		check_checkout(&object, root, description);
	if (match == CHECKOUT && um_reader_get(&object, "amount") == NULL
		&& um_reader_get(&object, "currency") == NULL)
		um_buf_puts(&expected->json, "{\"match\":\"checkout\"}");
	else
		read_price(expected, &object, description, (enum match)match);
	um_reader_end(&object);
	if (expected->json.len == 0)
		return;
	if (subscription) {
		expected->json.len--; /* the bracket that ends it */
		um_json_put_key(&expected->json, um_str("subscription"));
		um_json_put_bool(&expected->json, true);
		um_json_put_end(&expected->json);
	}
}
