/* SPDX-License-Identifier: MIT */
/* The rows that calls of `wait` watch: which stay, and which are to be read. */
#include "api/watched.h"

#include <string.h>

#include "support.h"

#define NOW 1000
#define MANY 1000

static const uint8_t shown[UM_SEEN_BYTES] = { 1, 2, 3 };

static struct um_watched_element
element_of(unsigned n)
{
	struct um_watched_element element = { .has_seen = true };

	element.id[0] = (uint8_t)n;
	element.id[1] = (uint8_t)(n >> 8);
	memcpy(element.seen, shown, sizeof(shown));
	return element;
}

static struct um_watched_state
state_of(struct um_str object)
{
	struct um_watched_state state = { .object = object };

	memcpy(state.digest, shown, sizeof(shown));
	return state;
}

static void
read_well(struct um_watched *watched, struct um_watched_element *element)
{
	const struct um_watched_state state = state_of(um_str("{\"a\":1"));

	um_watched_begin_read(element);
	um_watched_end_read(watched, element, &state,
		NOW + UM_WATCHED_ROUTINE_MS, true);
}

static unsigned taken, woken;
static bool takes;

static bool
take(struct um_watched_row *row, void *arg)
{
	const struct um_watched_state state = {
		.digest = { 9 },
		.is_completed = true,
		.object = um_str("{\"a\":2"),
	};

	taken++;
	if (takes)
		um_watched_show(arg, row, &state, NOW + UM_WATCHED_ROUTINE_MS);
	return takes;
}

static void
wake(void *call, void *arg)
{
	(void)call;
	(void)arg;
	woken++;
}

static void
announce(struct um_watched *watched, const struct um_watched_element *element)
{
	const struct um_watched_events events = { take, wake, watched };

	taken = woken = 0;
	um_watched_announced(watched, element->id, &events);
}

TEST(what_does_not_exist_is_forgotten_with_its_last_call)
{
	static struct um_watched_element elements[MANY], again[MANY];
	struct um_watched watched;

	um_watched_begin(&watched);
	for (unsigned i = 0; i < MANY; i++) {
		elements[i] = element_of(i);
		again[i] = element_of(i);
		assert_true(um_watched_join(&watched, &elements[i], NOW));
		assert_true(um_watched_join(&watched, &again[i], NOW));
		um_watched_begin_read(&elements[i]);
	}
	assert_int_equal(watched.len, MANY);
	for (unsigned i = 0; i < MANY; i++)
		um_watched_leave(&watched, &elements[i], NOW);
	assert_int_equal(watched.len, MANY);
	for (unsigned i = 0; i < MANY; i++)
		um_watched_leave(&watched, &again[i], NOW);
	assert_int_equal(watched.len, 0);
	um_watched_free(&watched);
}

TEST(what_was_read_stays_for_a_while)
{
	struct um_watched_element element = element_of(7);
	struct um_watched watched;

	um_watched_begin(&watched);
	assert_true(um_watched_join(&watched, &element, NOW));
	assert_true(element.is_due);
	read_well(&watched, &element);
	um_watched_leave(&watched, &element, NOW);
	um_watched_leave(&watched, &element, NOW);
	um_watched_forget(&watched, NOW + UM_WATCHED_KEEP_MS - 1);
	assert_int_equal(watched.len, 1);
	assert_true(um_watched_join(&watched, &element, NOW));
	assert_false(element.is_due);
	um_watched_leave(&watched, &element, NOW);
	um_watched_forget(&watched, NOW + UM_WATCHED_KEEP_MS);
	assert_int_equal(watched.len, 0);
	um_watched_free(&watched);
}

TEST(who_can_check_or_recheck_reads_again_what_is_asked)
{
	struct um_watched_element first = element_of(7), next;
	struct um_watched watched;

	um_watched_begin(&watched);
	assert_true(um_watched_join(&watched, &first, NOW));
	read_well(&watched, &first);
	for (unsigned i = 0; i < 6; i++) {
		struct um_watched_state state = state_of(um_str("{\"a\":1"));
		unsigned can = i % 3;

		state.is_asked = i >= 3;
		um_watched_show(&watched, first.row, &state,
			NOW + UM_WATCHED_ROUTINE_MS);
		next = element_of(7);
		next.can_check = can == 1;
		next.can_recheck = can == 2;
		assert_true(um_watched_join(&watched, &next, NOW));
		assert_int_equal(next.is_due, state.is_asked && can != 0);
		assert_int_equal(um_watched_is_known(&next, NOW), !next.is_due);
		um_watched_leave(&watched, &next, NOW);
	}
	um_watched_leave(&watched, &first, NOW);
	um_watched_free(&watched);
}

TEST(an_outcome_that_is_announced_is_shown_without_a_read)
{
	struct um_watched_element first = element_of(7), other = element_of(7),
				  next = element_of(7);
	struct um_watched watched;

	um_watched_begin(&watched);
	other.binding[0] = 1;
	assert_true(um_watched_join(&watched, &first, NOW));
	assert_true(um_watched_join(&watched, &other, NOW));
	takes = true;
	announce(&watched, &first);
	assert_int_equal(taken, 0); /* neither was read */
	assert_int_equal(woken, 2);
	assert_false(um_watched_is_known(&first, NOW));

	read_well(&watched, &first);
	assert_true(um_watched_is_known(&first, NOW));
	assert_false(um_watched_has_moved(&first));
	announce(&watched, &first);
	assert_int_equal(taken, 1); /* the other owner's was not read */
	assert_int_equal(woken, 2);
	assert_true(first.is_due && um_watched_is_known(&first, NOW));
	assert_true(um_watched_has_moved(&first));
	assert_true(first.row->is_completed);
	assert_true(um_str_is(um_watched_object(first.row), "{\"a\":2"));
	assert_false(um_watched_is_known(&other, NOW));

	/* As long as nothing else is announced, nobody reads. */
	assert_true(um_watched_join(&watched, &next, NOW));
	assert_true(next.is_due && um_watched_is_known(&next, NOW));
	assert_false(um_watched_is_known(&next, NOW + UM_WATCHED_ROUTINE_MS));
	takes = false;
	announce(&watched, &first);
	assert_false(um_watched_is_known(&next, NOW));
	um_watched_free(&watched);
}

TEST(what_this_process_has_changed_is_read_again_before_it_is_announced)
{
	struct um_watched_element first = element_of(7), next = element_of(7);
	struct um_watched watched;

	um_watched_begin(&watched);
	um_watched_changed(&watched, first.id); /* there is none */
	assert_true(um_watched_join(&watched, &first, NOW));
	read_well(&watched, &first);
	um_watched_begin_read(&first);
	um_watched_changed(&watched, first.id);
	assert_false(first.is_due);
	assert_true(um_watched_join(&watched, &next, NOW));
	assert_true(next.is_due && !um_watched_is_known(&next, NOW));
	/* A read that began before it says nothing of it. */
	um_watched_end_read(&watched, &first,
		&(const struct um_watched_state){ .digest = { 3 },
			.object = um_str("{") },
		NOW + UM_WATCHED_ROUTINE_MS, true);
	assert_false(um_watched_is_known(&next, NOW));
	um_watched_free(&watched);
}

TEST(what_a_claim_changes_is_read_again)
{
	struct um_watched_element first = element_of(7), next = element_of(7);
	struct um_watched_state state = state_of(um_str("{\"a\":1"));
	struct um_watched watched;

	state.is_completed = state.is_claimable = true;
	um_watched_begin(&watched);
	assert_true(um_watched_join(&watched, &first, NOW));
	um_watched_begin_read(&first);
	um_watched_end_read(&watched, &first, &state,
		NOW + UM_WATCHED_ROUTINE_MS, true);
	next.has_seen = false;
	assert_true(um_watched_join(&watched, &next, NOW));
	assert_true(next.is_due && !um_watched_is_known(&next, NOW));
	um_watched_free(&watched);
}

TEST(a_read_that_began_before_an_outcome_does_not_hide_it)
{
	struct um_watched_element first = element_of(7), next = element_of(7);
	struct um_watched watched;

	um_watched_begin(&watched);
	assert_true(um_watched_join(&watched, &first, NOW));
	assert_true(um_watched_join(&watched, &next, NOW));
	read_well(&watched, &first);
	um_watched_begin_read(&next);
	takes = true;
	announce(&watched, &first);
	um_watched_end_read(&watched, &next,
		&(const struct um_watched_state){ .digest = { 3 },
			.object = um_str("{") },
		NOW + UM_WATCHED_ROUTINE_MS, true);
	assert_true(next.is_due && um_watched_is_known(&next, NOW));
	assert_true(um_str_is(um_watched_object(next.row), "{\"a\":2"));
	um_watched_free(&watched);
}

TEST(what_is_kept_has_limits)
{
	static struct um_watched_element elements[5000];
	static char text[UM_WATCHED_OBJECT_MAX + 1];
	struct um_watched watched;
	struct um_watched_state state;
	size_t kept = 0;

	memset(text, 'x', sizeof(text));
	um_watched_begin(&watched);
	state = state_of((struct um_str){ text, sizeof(text) });
	for (unsigned i = 0; i < LENGTH(elements); i++) {
		elements[i] = element_of(i);
		assert_true(um_watched_join(&watched, &elements[i], NOW));
		um_watched_show(&watched, elements[i].row, &state, NOW + 1);
		assert_null(elements[i].row->kept);
	}
	state.object.len = UM_WATCHED_OBJECT_MAX;
	for (unsigned i = 0; i < LENGTH(elements); i++)
		um_watched_show(&watched, elements[i].row, &state, NOW + 1);
	for (unsigned i = 0; i < LENGTH(elements); i++)
		kept += elements[i].row->kept != NULL;
	assert_int_equal(kept, UM_WATCHED_BYTES_MAX / UM_WATCHED_OBJECT_MAX);
	assert_int_equal(watched.bytes, UM_WATCHED_BYTES_MAX);
	/* Those that nobody waits for make room, and are not forgotten else. */
	um_watched_leave(&watched, &elements[0], NOW);
	um_watched_show(&watched, elements[4999].row, &state, NOW + 1);
	assert_non_null(elements[4999].row->kept);
	assert_int_equal(watched.len, LENGTH(elements) - 1);
	for (unsigned i = 1; i < LENGTH(elements); i++)
		um_watched_leave(&watched, &elements[i], NOW);
	assert_int_equal(watched.len, LENGTH(elements) - 1);
	um_watched_forget(&watched, NOW + UM_WATCHED_KEEP_MS);
	assert_int_equal(watched.len, 0);
	assert_int_equal(watched.bytes, 0);
	um_watched_free(&watched);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_does_not_exist_is_forgotten_with_its_last_call),
		cmocka_unit_test(what_was_read_stays_for_a_while),
		cmocka_unit_test(
			who_can_check_or_recheck_reads_again_what_is_asked),
		cmocka_unit_test(
			an_outcome_that_is_announced_is_shown_without_a_read),
		cmocka_unit_test(
			what_this_process_has_changed_is_read_again_before_it_is_announced),
		cmocka_unit_test(what_a_claim_changes_is_read_again),
		cmocka_unit_test(
			a_read_that_began_before_an_outcome_does_not_hide_it),
		cmocka_unit_test(what_is_kept_has_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
