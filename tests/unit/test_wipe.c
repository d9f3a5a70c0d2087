/* SPDX-License-Identifier: MIT */
/* What is freed does not leave the secrets of a request in memory. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <valgrind/memcheck.h>

#include "form/answers.h"
#include "postgres/store.h"
#include "program_case.h"

static size_t freed_with_secret;

/* With ld --wrap=free (see the Makefile), free() calls __wrap_free(). */
/* NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
void __real_free(void *ptr);
void __wrap_free(void *ptr);

void
__wrap_free(void *ptr)
{
	size_t len = malloc_usable_size(ptr);

	if (ptr != NULL) {
		(void)VALGRIND_MAKE_MEM_DEFINED(ptr, len);
		freed_with_secret += memmem(ptr, len, SECRET, strlen(SECRET))
			!= NULL;
	}
	__real_free(ptr);
}
/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static int
set_up(void **state)
{
	(void)state;
	freed_with_secret = 0;
	return 0;
}

/* The test can see a secret that is not wiped. */
TEST(a_secret_that_is_not_wiped_is_found)
{
	free(strdup("before " SECRET));
	assert_int_equal(freed_with_secret, 1);
}

TEST(a_form_is_wiped)
{
	struct um_form form;

	assert_int_equal(um_form_parse(&form, STR("state=x&code=" SECRET)),
		UM_REFUSAL_NONE);
	um_form_free(&form);
	assert_int_equal(freed_with_secret, 0);
}

/* Refused in the middle: what is decoded by then is wiped as well. */
TEST(a_form_that_is_refused_is_wiped)
{
	struct um_form form;

	assert_int_equal(um_form_parse(&form, STR("code=" SECRET "&code=x")),
		UM_REFUSAL_DUPLICATE_PARAMETER);
	um_form_free(&form);
	assert_int_equal(freed_with_secret, 0);
}

/* What a user has typed: in the form, in the answers, in the result. */
TEST(the_answers_of_a_form_are_wiped)
{
	static const char json[] =
		"{\"title\":\"T\",\"fields\":[{\"name\":\"a\",\"type\":"
		"\"secret\","
		"\"multiline\":true,\"label\":\"A\"},{\"name\":\"n\","
		"\"type\":\"number\",\"label\":\"N\"}]}";
	struct um_definition definition;
	struct um_schema_fault fault;
	struct um_answers answers;
	struct um_form form;
	struct um_buf values = { 0 };

	assert_true(
		um_definition_read(&definition, um_str(json), false, &fault));
	assert_int_equal(um_form_parse(&form,
				 STR("field.a=x%0D%0A" SECRET
				     "&field.n=" SECRET)),
		UM_REFUSAL_NONE);
	assert_int_equal(um_answers_read(&answers, &definition, &form, true),
		UM_ANSWERS_READ);
	assert_int_equal(answers.mistakes, 1);
	um_answers_put(&values, &answers, &definition, true);
	assert_true(str_has(um_buf_str(&values), STR(SECRET)));
	um_buf_free(&values);
	um_answers_free(&answers);
	um_form_free(&form);
	um_definition_free(&definition);
	assert_int_equal(freed_with_secret, 0);
}

TEST(an_exchange_is_wiped)
{
	struct um_exchange ex = { .cookie = SECRET,
		.user = SECRET,
		.state = SECRET };
	const struct um_str form = STR("code=" SECRET);
	const char *bytes = (const char *)&ex;

	assert_int_equal(um_form_parse(&ex.form, form), UM_REFUSAL_NONE);
	um_buf_puts(&ex.op.result, SECRET);
	um_buf_puts(&ex.url, "https://host/?state=" SECRET);
	um_buf_puts(&ex.response.headers, "Location: /?code=" SECRET);
	um_buf_puts(&ex.response.body, SECRET);
	um_exchange_free(&ex);
	assert_int_equal(freed_with_secret, 0);
	assert_null(memmem(bytes, sizeof(ex), SECRET, strlen(SECRET)));
}

static void
done(struct um_op *op, void *arg)
{
	(void)op;
	(void)arg;
}

static void
notice(const char *text, void *arg)
{
	(void)text;
	(void)arg;
}

/* The connection string may hold a password. */
TEST(a_store_is_wiped)
{
	static const struct um_store_events events = { done, notice, NULL, NULL,
		NULL, NULL };
	struct um_store *store = um_store_new("host=/nowhere password=" SECRET,
		"connect", UM_LOGIN_CALLBACK, NULL, &events);

	assert_non_null(store);
	um_store_free(store);
	assert_int_equal(freed_with_secret, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_secret_that_is_not_wiped_is_found,
			set_up),
		cmocka_unit_test_setup(a_form_is_wiped, set_up),
		cmocka_unit_test_setup(a_form_that_is_refused_is_wiped, set_up),
		cmocka_unit_test_setup(the_answers_of_a_form_are_wiped, set_up),
		cmocka_unit_test_setup(an_exchange_is_wiped, set_up),
		cmocka_unit_test_setup(a_store_is_wiped, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
