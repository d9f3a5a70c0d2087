/* SPDX-License-Identifier: MIT */
#include "postgres/sqlstate.h"
#include "support.h"

/* PostgreSQL's appendix A. */
static const struct {
	const char *sqlstate;
	enum um_sqlstate is;
} cases[] = {
	{ "08006", UM_SQLSTATE_SERVER },    /* connection_failure */
	{ "53100", UM_SQLSTATE_SERVER },    /* disk_full */
	{ "53300", UM_SQLSTATE_SERVER },    /* too_many_connections */
	{ "57P01", UM_SQLSTATE_SERVER },    /* admin_shutdown */
	{ "57P03", UM_SQLSTATE_SERVER },    /* cannot_connect_now */
	{ "58030", UM_SQLSTATE_SERVER },    /* io_error */
	{ "25006", UM_SQLSTATE_SERVER },    /* read_only_sql_transaction */
	{ "XX000", UM_SQLSTATE_SERVER },    /* internal_error */
	{ "40001", UM_SQLSTATE_TRANSIENT }, /* serialization_failure */
	{ "40P01", UM_SQLSTATE_TRANSIENT }, /* deadlock_detected */
	{ "22001", UM_SQLSTATE_ROW },       /* string_data_right_truncation */
	{ "23514", UM_SQLSTATE_ROW },       /* check_violation */
	{ "P0001", UM_SQLSTATE_ROW },       /* raise_exception */
	{ "55P03", UM_SQLSTATE_LOCK },      /* lock_not_available */
	{ "57014", UM_SQLSTATE_OTHER },     /* query_canceled */
	{ "25001", UM_SQLSTATE_OTHER },     /* active_sql_transaction */
	{ "42883", UM_SQLSTATE_OTHER },     /* undefined_function */
	{ "", UM_SQLSTATE_OTHER },
};

TEST(each_class_of_errors)
{
	for (size_t i = 0; i < LENGTH(cases); i++)
		assert_row(cases[i].sqlstate,
			um_sqlstate_class(cases[i].sqlstate) == cases[i].is);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_class_of_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
