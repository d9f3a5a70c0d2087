/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "support.h"
#include "webhook/details.h"

TEST(only_what_the_event_says_is_put)
{
	static const struct {
		struct um_details details;
		const char *json;
	} cases[] = {
		{ { 0 }, "" },
		{ { .occurred_at = 1700000000 },
			"{\"occurred_at\":1700000000}" },
		{ { .state = "won" }, "{\"state\":\"won\"}" },
		{ { .kind = "dispute", .evidence_due_at = 2 },
			"{\"kind\":\"dispute\",\"evidence_due_at\":2}" },
		{ { .checkout_paid = true }, "{\"checkout_paid\":true}" },
		{ { .also = "pi_1" }, "{\"also\":\"pi_1\"}" },
		{ { .has_tax = true }, "{\"tax\":0}" },
		{ { .has_tax = true, .tax = 168 }, "{\"tax\":168}" },
		{ { .occurred_at = 1, .state = "a \"word\"" },
			"{\"occurred_at\":1,\"state\":\"a \\\"word\\\"\"}" },
		{ { .subscription = { .id = "sub_1" } }, "" },
		{ { .subscription = { .is_told = true,
			    .status = UM_SUBSCRIPTION_UNKNOWN } },
			"{\"subscription\":{}}" },
		{ { .state = "x",
			  .subscription = { .is_told = true,
				  .id = "sub_1",
				  .account = "acct",
				  .payment = "o_1",
				  .at_ms = 5,
				  .late_ms = 6,
				  .status = UM_SUBSCRIPTION_PAST_DUE,
				  .says_until = true,
				  .until_ms = 7,
				  .says_cancel_at = true,
				  .says_paused = true } },
			"{\"state\":\"x\",\"subscription\":{\"id\":\"sub_1\","
			"\"account\":\"acct\",\"at_ms\":5,\"payment\":\"o_1\","
			"\"status\":\"past_due\",\"until_ms\":7,"
			"\"cancel_at_ms\":null,\"paused\":false,"
			"\"late_ms\":6}}" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };

		row_begin("%s", cases[i].json);
		um_details_put(&out, &cases[i].details);
		assert_int_equal(out.len, strlen(cases[i].json));
		if (out.len != 0)
			assert_memory_equal(out.ptr, cases[i].json, out.len);
		um_buf_free(&out);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_the_event_says_is_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
