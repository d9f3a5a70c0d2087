/* SPDX-License-Identifier: MIT */
/* What the operator's command asks, and what it is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "child.h"
#include "operate/main.h"

#define PASSWORD "hunter2"
#define SECRET "IiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI"

struct question {
	char *args[6];
	const char *path;
	const char *input;
	bool limited; /* the hard limit of core dumps is 0 */
	bool says_core;
};

static int
ask(void *arg)
{
	struct question *question = arg;
	struct rlimit core;
	int argc = 0;
	int status;

	while (question->args[argc] != NULL)
		argc++;
	if (question->path != NULL)
		setenv("URLMODE_CONFIG", question->path, 1);
	if (question->input != NULL) {
		FILE *in = tmpfile();

		fputs(question->input, in);
		rewind(in);
		dup2(fileno(in), STDIN_FILENO);
	}
	if (question->limited)
		child_limit_cores();
	status = um_operate_main(argc, question->args);
	getrlimit(RLIMIT_CORE, &core);
	if (question->says_core)
		printf("core limit %d%s\n", (int)core.rlim_cur,
			prctl(PR_GET_DUMPABLE) == 0 ? ", not dumpable" : "");
	return status;
}

/* The exit status, all of the output, and a part of the message. */
static void
assert_answer(struct question *question, int status, const char *said,
	const char *message)
{
	struct um_buf out = { 0 };
	struct um_buf err = { 0 };
	struct child child;

	child_start(&child, ask, question, -1);
	assert_int_equal(child_end(&child, &out, &err), status);
	if (!um_str_is(um_buf_str(&out), said))
		fail_msg("not \"%s\" but: %.*s", said, (int)out.len,
			out.ptr != NULL ? out.ptr : "");
	if (!str_has(um_buf_str(&err), um_str(message)))
		fail_msg("\"%s\" is not in: %.*s", message, (int)err.len,
			err.ptr != NULL ? err.ptr : "");
	assert_false(str_has(um_buf_str(&err), STR(PASSWORD)));
	assert_false(str_has(um_buf_str(&err), STR(SECRET)));
	um_buf_free(&out);
	um_buf_free(&err);
}

static char name[] = "operate", config[] = "config", keys[] = "keys",
	    conninfo[] = "conninfo";

static char *
make_config(const char *more)
{
	struct um_buf text = { 0 };
	char *path;

	um_buf_printf(&text,
		"{\"base_url\": \"https://a.example\", \"keys_file\": "
		"\"/k\", \"database_url\": \"password=" PASSWORD "\","
		" \"providers\": {\"demo\": {\"kind\": \"oauth\"},"
		" \"b_2\": {\"kind\": \"oauth\"}}%s}",
		more);
	path = file_make(um_buf_str(&text), 0600);
	um_buf_free(&text);
	return path;
}

TEST(a_value_of_the_configuration)
{
	static const struct {
		const char *key, *value;
	} rows[] = {
		{ "base_url", "https://a.example\n" },
		{ "keys_file", "/k\n" },
		{ "database_url", "password=" PASSWORD "\n" },
		{ "user_check", "session-ticket\n" },
		{ "log_file", "" },
		{ "metrics_file", "/m\n" },
		{ "providers_dir", "/p\n" },
		{ "providers", "demo oauth 0\nb_2 oauth 0\n" },
		{ "programs", "connect\noauth-return\nstatus\n" },
	};
	char *path = make_config(", \"user_check\": \"session-ticket\","
				 " \"metrics_file\": \"/m\","
				 " \"providers_dir\": \"/p\"");
	char key[32];
	struct question question = { .args = { name, config, key },
		.path = path };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		row_begin("%s", rows[i].key);
		snprintf(key, sizeof(key), "%s", rows[i].key);
		assert_answer(&question, 0, rows[i].value, "");
	}
	snprintf(key, sizeof(key), "secrets");
	assert_answer(&question, 1, "", "no key secrets");
	file_remove(path);
}

TEST(several_values_of_the_configuration)
{
	char *path = make_config(", \"metrics_file\": \"/m\"");
	char file[] = "metrics_file", log[] = "log_file", all[] = "providers";
	struct question question = { .args = { name, config, file, log, all },
		.path = path };

	assert_answer(&question, 0,
		"metrics_file /m\nproviders demo oauth 0\n"
		"providers b_2 oauth 0\n",
		"");
	file_remove(path);
}

TEST(the_openid_provider_of_the_configuration)
{
	char *path = make_config(", \"user_check\": \"openid\", \"openid\": {"
				 "\"issuer\": \"https://id.example\","
				 "\"client_id\": \"client\","
				 "\"authorization_endpoint\":"
				 " \"https://id.example/a\","
				 "\"jwks_file\": \"/j\"}");
	char key[] = "openid";
	struct question question = { .args = { name, config, key },
		.path = path };

	assert_answer(&question, 0,
		"issuer https://id.example\nclient_id client\n"
		"authorization_endpoint https://id.example/a\n"
		"jwks_file /j\n",
		"");
	file_remove(path);
}

TEST(a_configuration_that_is_refused_answers_nothing)
{
	char *path = make_config(", \"colour\": \"blue\"");
	char key[] = "base_url";
	struct question question = { .args = { name, config, key },
		.path = path };

	assert_answer(&question, 1, "", "/colour");
	file_remove(path);
}

TEST(the_ids_of_the_keys)
{
	char *path = file_make(STR("7 " SECRET "\n# 9 sealed once\n2 " SECRET
				   "\n255 " SECRET "\n"),
		0600);
	struct question question = { .args = { name, keys, path } };

	assert_answer(&question, 0, "7\n2\n255\n", "");
	file_remove(path);
	path = file_make(STR("7 " SECRET "\n7 " SECRET "\n"), 0600);
	question.args[2] = path;
	assert_answer(&question, 1, "", path);
	file_remove(path);
}

TEST(a_socket_on_which_somebody_listens)
{
	char path[] = "/tmp/urlmode-query-XXXXXX/sock", option[] = "socket",
	     longer[200];
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct question question = { .args = { name, option, path } };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	path[sizeof("/tmp/urlmode-query-XXXXXX") - 1] = '\0';
	assert_non_null(mkdtemp(path));
	path[strlen(path)] = '/';
	assert_answer(&question, 1, "", "No such file");
	memcpy(address.sun_path, path, sizeof(path));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
		0);
	assert_answer(&question, 1, "", "Connection refused");
	assert_int_equal(listen(fd, 1), 0);
	assert_answer(&question, 0, "", "");
	close(fd);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	question.args[2] = longer;
	assert_answer(&question, 1, "", "too long");
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

TEST(a_connection_string)
{
	struct question question = { .args = { name, conninfo } };

	question.input = "postgresql://u:a%20b@h,i:2/d?sslmode=require\n";
	assert_answer(&question, 0,
		"user=u\npassword=a b\ndbname=d\nhost=h,i\nport=,2\n"
		"sslmode=require\n",
		"");
	question.input = "host=/run dbname='a b'";
	assert_answer(&question, 0, "dbname=a b\nhost=/run\n", "");
	question.input = "password=" PASSWORD " colour=blue";
	assert_answer(&question, 1, "", "libpq");
	question.input = "host=a\n[other]\npassword=" PASSWORD;
	assert_answer(&question, 1, "", "libpq");
	question.input = "postgresql:///d?application_name=a%0Ab";
	assert_answer(&question, 1, "", "of one line");
}

TEST(other_arguments_are_no_question)
{
	struct question question = { .args = { name, config } };

	assert_answer(&question, EX_USAGE, "", "a part of");
	question.args[1] = conninfo;
	question.args[2] = name;
	assert_answer(&question, EX_USAGE, "", "a part of");
}

/* It has read keys and passwords. */
TEST(no_core_is_dumped_whatever_the_hard_limit_is)
{
	char *path = make_config("");
	char key[] = "keys_file";
	struct question question = { .args = { name, config, key },
		.path = path,
		.says_core = true };

	if (child_may_set_cores())
		assert_answer(&question, 0, "/k\ncore limit 1\n", "");
	question.limited = true;
	assert_answer(&question, 0, "/k\ncore limit 0, not dumpable\n", "");
	file_remove(path);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_of_the_configuration),
		cmocka_unit_test(several_values_of_the_configuration),
		cmocka_unit_test(the_openid_provider_of_the_configuration),
		cmocka_unit_test(
			a_configuration_that_is_refused_answers_nothing),
		cmocka_unit_test(the_ids_of_the_keys),
		cmocka_unit_test(a_socket_on_which_somebody_listens),
		cmocka_unit_test(a_connection_string),
		cmocka_unit_test(other_arguments_are_no_question),
		cmocka_unit_test(no_core_is_dumped_whatever_the_hard_limit_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
