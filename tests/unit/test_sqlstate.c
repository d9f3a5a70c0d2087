/* SPDX-License-Identifier: MIT */
#include "postgres/sqlstate.h"
#include "support.h"

/* PostgreSQL's appendix A. */
static const struct {
	const char *sqlstate;
	bool servers, transient, rows;
} cases[] = {
	{ "08006", true, false, false },  /* connection_failure */
	{ "53100", true, false, false },  /* disk_full */
	{ "53300", true, false, false },  /* too_many_connections */
	{ "57P01", true, false, false },  /* admin_shutdown */
	{ "57P03", true, false, false },  /* cannot_connect_now */
	{ "58030", true, false, false },  /* io_error */
	{ "25006", true, false, false },  /* read_only_sql_transaction */
	{ "XX000", true, false, false },  /* internal_error */
	{ "40001", false, true, false },  /* serialization_failure */
	{ "40P01", false, true, false },  /* deadlock_detected */
	{ "22001", false, false, true },  /* string_data_right_truncation */
	{ "23514", false, false, true },  /* check_violation */
	{ "P0001", false, false, true },  /* raise_exception */
	{ "55P03", false, false, false }, /* lock_not_available */
	{ "57014", false, false, false }, /* query_canceled */
	{ "25001", false, false, false }, /* active_sql_transaction */
	{ "42883", false, false, false }, /* undefined_function */
	{ "", false, false, false },
};

TEST(each_class_of_errors)
{
	for (size_t i = 0; i < LENGTH(cases); i++) {
		const char *sqlstate = cases[i].sqlstate;

		assert_row(sqlstate,
			um_sqlstate_is_servers(sqlstate) == cases[i].servers);
		assert_row(sqlstate,
			um_sqlstate_is_transient(sqlstate)
				== cases[i].transient);
		assert_row(sqlstate,
			um_sqlstate_is_rows(sqlstate) == cases[i].rows);
		assert_row(sqlstate,
			um_sqlstate_is_lock(sqlstate)
				== (strcmp(sqlstate, "55P03") == 0));
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_class_of_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
