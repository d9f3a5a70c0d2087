/* SPDX-License-Identifier: MIT */
/*
 * The names of the database's hosts, with a resolver that is played here:
 * getaddrinfo(3) of the library is the function below (Makefile).
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "postgres/resolve.h"
#include "store_fixture.h"

/* Names whose lookup hangs until a byte comes through the pipe. */
#define HANGING "hang.example"
static int gate[2];

/* NOLINTBEGIN(clang-diagnostic-reserved-identifier) */
int __real_getaddrinfo(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **res);
int __wrap_getaddrinfo(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **res);

/* "db.example" has two addresses, of which the first belongs to nobody. */
int
__wrap_getaddrinfo(const char *node, const char *service,
	const struct addrinfo *hints, struct addrinfo **res)
{
	struct addrinfo *second = NULL;
	char byte;
	int error;

	if (strcmp(node, HANGING) == 0)
		assert_int_equal(read(gate[0], &byte, 1), 1);
	else if (strcmp(node, "db.example") != 0)
		return EAI_NONAME;
	error = __real_getaddrinfo("127.0.0.1", service, hints, &second);
	if (error != 0 || strcmp(node, HANGING) == 0) {
		*res = second;
		return error;
	}
	error = __real_getaddrinfo("127.99.99.99", service, hints, res);
	if (error == 0)
		(*res)->ai_next = second;
	return error;
}

/* NOLINTEND(clang-diagnostic-reserved-identifier) */

static struct um_resolve *
resolve(const char *conninfo)
{
	struct um_resolve *found = um_resolve_start(conninfo, false);
	struct pollfd pfd = { .events = POLLIN };

	assert_non_null(found);
	pfd.fd = um_resolve_fd(found);
	assert_int_equal(poll(&pfd, 1, 10000), 1);
	assert_true(um_resolve_has_ended(found));
	return found;
}

TEST(what_is_no_name_is_not_looked_up)
{
	static const char *const strings[] = {
		"",
		"dbname=x",
		"host=/run/postgresql",
		"host=@abstract",
		"host=192.0.2.1",
		"host=/run/postgresql,192.0.2.1,::1",
		"postgresql://u@[2001:db8::1]:5433/x",
		"host=db.example hostaddr=192.0.2.1",
		"hostaddr=192.0.2.1,::1",
		"host=db.example,/tmp hostaddr=192.0.2.1,",
		"no=keyword",
	};

	for (size_t i = 0; i < LENGTH(strings); i++)
		assert_row(strings[i],
			um_resolve_start(strings[i], false) == NULL);
	um_resolve_free(NULL);
}

TEST(hosts_addresses_and_ports)
{
	static const struct {
		const char *conninfo;
		const char *host;
		const char *hostaddr;
		const char *port;
	} cases[] = {
		{ "host=db.example", "db.example,db.example",
			"127.99.99.99,127.0.0.1", NULL },
		{ "host=db.example port=5433", "db.example,db.example",
			"127.99.99.99,127.0.0.1", "5433,5433" },
		{ "postgresql://u:p@192.0.2.1:1,db.example:2,[::1]:3/x",
			"192.0.2.1,db.example,db.example,::1",
			",127.99.99.99,127.0.0.1,", "1,2,2,3" },
		{ "host=/tmp,nobody.example,db.example port=1,2,3",
			"/tmp,db.example,db.example", ",127.99.99.99,127.0.0.1",
			"1,3,3" },
		{ "host=/tmp,nobody.example", "/tmp", "", NULL },
		{ "host=db.example,,", "db.example,db.example,,",
			"127.99.99.99,127.0.0.1,,", NULL },
		{ "host=,db.example hostaddr=192.0.2.1, port=,2",
			",db.example,db.example",
			"192.0.2.1,127.99.99.99,127.0.0.1", ",2,2" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_resolve *found = resolve(cases[i].conninfo);
		struct um_addresses addresses;
		struct um_error err;

		row_begin("%s", cases[i].conninfo);
		assert_true(um_resolve_take(found, &addresses, &err));
		assert_string_equal(addresses.host, cases[i].host);
		assert_string_equal(addresses.hostaddr, cases[i].hostaddr);
		if (cases[i].port != NULL)
			assert_string_equal(addresses.port, cases[i].port);
		else
			assert_null(addresses.port);
		um_resolve_free(found);
	}
}

/* Nobody answers at these ports, so that the order stays. */
TEST(the_leader_of_several_is_asked_for)
{
	static const char *const alone[] = { "host=/tmp",
		"host=192.0.2.1 hostaddr=192.0.2.1", "hostaddr=192.0.2.1" };
	static const struct {
		const char *conninfo, *host, *hostaddr, *port;
	} cases[] = {
		{ "host=a.example,b.example hostaddr=127.0.0.1,::1 port=1,2",
			"a.example,b.example", "127.0.0.1,::1", "1,2" },
		{ "hostaddr=127.0.0.1,::1 port=1", ",", "127.0.0.1,::1",
			"1,1" },
		{ "host=127.0.0.1, port=1", "127.0.0.1,", ",", "1,1" },
	};

	for (size_t i = 0; i < LENGTH(alone); i++)
		assert_row(alone[i], um_resolve_start(alone[i], true) == NULL);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_resolve *found = um_resolve_start(cases[i].conninfo,
			true);
		struct um_addresses addresses;
		struct um_error err;
		struct pollfd pfd = { .events = POLLIN };

		row_begin("%s", cases[i].conninfo);
		assert_non_null(found);
		pfd.fd = um_resolve_fd(found);
		assert_int_equal(poll(&pfd, 1, 20000), 1);
		assert_true(um_resolve_take(found, &addresses, &err));
		assert_string_equal(addresses.host, cases[i].host);
		assert_string_equal(addresses.hostaddr, cases[i].hostaddr);
		assert_string_equal(addresses.port, cases[i].port);
		assert_true(addresses.is_ordered);
		assert_false(addresses.is_certain);
		um_resolve_free(found);
	}
}

/* Two addresses of a name, as of one that has IPv4 and IPv6. */
TEST(a_server_with_two_addresses_is_one_leader)
{
	const char *url = getenv("URLMODE_PROGRAMS_DATABASE_URL");
	const char *at = strchr(url, '@') + 1;
	const int len = (int)strcspn(at, "/");
	struct um_resolve *found;
	struct um_addresses addresses;
	struct um_error err;
	struct pollfd pfd = { .events = POLLIN };
	char twice[1024];

	snprintf(twice, sizeof(twice), "%.*s%.*s,%s", (int)(at - url), url, len,
		at, at);
	found = um_resolve_start(twice, true);
	assert_non_null(found);
	pfd.fd = um_resolve_fd(found);
	assert_int_equal(poll(&pfd, 1, 20000), 1);
	assert_true(um_resolve_take(found, &addresses, &err));
	assert_true(addresses.is_certain);
	um_resolve_free(found);
}

TEST(a_name_without_an_address)
{
	struct um_resolve *found = resolve("host=nobody.example");
	struct um_addresses addresses;
	struct um_error err;

	assert_false(um_resolve_take(found, &addresses, &err));
	assert_error(&err, "its name cannot be looked up: ");
	um_resolve_free(found);
}

/* Nobody waits for the thread; it frees what its owner has given up. */
TEST(a_lookup_that_is_given_up)
{
	struct um_resolve *found = um_resolve_start("host=" HANGING, false);
	int fd;

	assert_non_null(found);
	assert_false(um_resolve_has_ended(found));
	fd = um_resolve_fd(found);
	um_resolve_free(found);
	assert_int_equal(write(gate[1], "", 1), 1);
	for (int i = 0; i < 1000 && fcntl(fd, F_GETFD) >= 0; i++)
		usleep(10000);
	assert_true(fcntl(fd, F_GETFD) < 0);
}

static struct store_fixture fixture;

/* The database of the tests, at a host of this name. */
static void
open_at(const char *host)
{
	const char *url = getenv("URLMODE_PROGRAMS_DATABASE_URL");
	const char *at = url != NULL ? strstr(url, "@127.0.0.1:") : NULL;
	struct um_buf changed = { 0 };

	assert_non_null(at);
	um_buf_put(&changed, url, (size_t)(at + 1 - url));
	um_buf_puts(&changed, host);
	um_buf_puts(&changed, at + strlen("@127.0.0.1"));
	um_buf_put(&changed, "", 1);
	store_fixture_open(&fixture, changed.ptr);
	um_buf_free(&changed);
}

TEST(the_store_finds_its_host_by_name)
{
	struct um_op op;

	open_at("db.example");
	row_make(&op, UM_OP_LOOK_UP);
	store_fixture_submit(&fixture, &op);
	store_fixture_run(&fixture, 1);
	assert_outcome(&op, "pending");
	um_op_free(&op);
}

/*
 * While the resolver hangs no call does: operations are handed back when they
 * must be, and there is one lookup, however often it is tried again.
 */
TEST(a_resolver_that_hangs)
{
	struct um_op ops[3];
	int64_t began = um_monotonic_ms();
	unsigned connection;
	bool want_write;
	int fd;

	open_at(HANGING);
	for (size_t i = 0; i < LENGTH(ops); i++)
		row_make(&ops[i], UM_OP_LOOK_UP);
	fixture.now = 1000000;
	store_fixture_submit(&fixture, &ops[0]);
	um_store_run(fixture.store, false, fixture.now);
	fd = um_store_watch(fixture.store, &want_write, &connection);
	assert_true(fd >= 0);
	assert_false(want_write);
	for (int i = 0; i < 30; i++) {
		fixture.now += 1000;
		um_store_run(fixture.store, false, fixture.now);
		assert_int_equal(fixture.done_len, i >= 2);
	}
	assert_outcome(&ops[0], "unavailable");
	store_fixture_submit(&fixture, &ops[1]);
	assert_int_equal(fixture.done_len, 2); /* It is known to be away. */
	assert_outcome(&ops[1], "unavailable");
	assert_true(um_monotonic_ms() - began < 5000);

	/* That one answers at last. */
	assert_int_equal(write(gate[1], "", 1), 1);
	fixture.now = 0;
	store_fixture_run_until_idle(&fixture);
	store_fixture_submit(&fixture, &ops[2]);
	store_fixture_run(&fixture, 3);
	assert_outcome(&ops[2], "pending");
	ops_free(ops, LENGTH(ops));
}

static int
set_up(void **state)
{
	return pipe(gate) == 0 ? store_fixture_group_set_up(state) : -1;
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_name_is_not_looked_up),
		cmocka_unit_test(hosts_addresses_and_ports),
		cmocka_unit_test(the_leader_of_several_is_asked_for),
		cmocka_unit_test(a_server_with_two_addresses_is_one_leader),
		cmocka_unit_test(a_name_without_an_address),
		cmocka_unit_test(a_lookup_that_is_given_up),
		STORE_TEST_OPENS(the_store_finds_its_host_by_name),
		STORE_TEST_OPENS(a_resolver_that_hangs),
	};

	return cmocka_run_group_tests(tests, set_up,
		store_fixture_group_tear_down);
}
