/* SPDX-License-Identifier: MIT */
/* The proof of a fresh sign-in, and which sign-ins are one. */
#include <string.h>

#include "app/fresh.h"
#include "connect.h"
#include "signin.h"

/* Reads the cookie for a page with this state, which this user loads. */
static bool
reads(struct um_fresh *fresh, const char *cookie, const char *state,
	const char *user)
{
	struct um_exchange ex = { 0 };
	struct um_buf header = { 0 }, query = { 0 };
	bool ok;

	um_buf_cat(&header, "x=y; " UM_FRESH_COOKIE "=", cookie);
	um_buf_cat(&query, "state=", state);
	assert_int_equal(um_form_parse(&ex.form, um_buf_str(&query)),
		UM_REFUSAL_NONE);
	ex.request.cookie = um_buf_str(&header);
	strcpy(ex.user, user);
	ok = um_fresh_read(fresh, &case_context, &ex);
	um_form_free(&ex.form);
	um_buf_free(&header);
	um_buf_free(&query);
	return ok;
}

TEST(vectors_of_another_program)
{
	json_error_t err;
	json_t *root = json_load_file("tests/vectors/signin.json", 0, &err);
	const json_t *vector;
	size_t index;

	assert_non_null(root);
	json_array_foreach (json_object_get(root, "fresh"), index, vector) {
		const char *cookie = vector_text(vector, "fresh");
		const char *state = vector_text(vector, "state");
		const char *subject = vector_text(vector, "subject");
		struct um_fresh fresh;

		signin_use_vector(vector);
		assert_true(reads(&fresh, cookie, state, subject));
		assert_int_equal(fresh.at,
			json_integer_value(
				json_object_get(vector, "signed_in_at")));
		assert_string_equal(fresh.how, vector_text(vector, "how"));
		assert_false(reads(&fresh, cookie, state, "mallory"));
		assert_false(reads(&fresh, cookie, state + 1, subject));
		case_context.now_ms++;
		assert_false(reads(&fresh, cookie, state, subject));
	}
	assert_int_equal(index, 2);
	json_decref(root);
}

/*
 * The way began at 1000 and ends at 1010. A sign-in that was asked for is fresh
 * as soon as its token is good.
 */
TEST(a_sign_in_is_fresh_that_was_made_on_the_way)
{
	static const struct {
		const char *way;
		int64_t at, issued;
		bool is_fresh;
	} rows[] = {
		{ "/connect/a?state=x&from=1000", 1000, 1009, true },
		{ "/connect/a?state=x&from=1000&signin=again", 1009, 1009,
			true },
		{ "/connect/a?state=x&from=1000", 999, 1009, false },
		{ "/connect/a?state=x&from=1000", 0, 1009, false },
		/* The provider's clock is fast. */
		{ "/connect/a?state=x&from=1000", 1003, 1050, false },
		{ "/connect/a?state=x&from=1000", 1051, 1050, false },
		{ "/connect/a?state=x", 1005, 1009, false },
		{ "/form/a?state=x&since=1000&signin=fresh", 998, 1009, true },
	};

	case_context.now_ms = INT64_C(1010) * 1000;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct um_id_token_user user = { .auth_time = rows[i].at,
			.issued_at = rows[i].issued };
		struct um_buf way = { 0 };

		row_begin("%zu", i);
		um_buf_puts(&way, rows[i].way);
		assert_int_equal(um_signin_was_fresh(&case_context, &way,
					 &user),
			rows[i].is_fresh);
		um_buf_free(&way);
	}
}

static int
set_up(void **state)
{
	return signin_set_up(state, &connect_program);
}

#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up, signin_tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(vectors_of_another_program),
		CASE(a_sign_in_is_fresh_that_was_made_on_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
