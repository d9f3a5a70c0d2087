/* SPDX-License-Identifier: MIT */
/* The console: who may, what is sealed, and what others wrote as HTML and CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "config/console.h"
#include "console/chart.h"
#include "console/csv.h"
#include "console/filters.h"
#include "console/session.h"
#include "console/style.h"
#include "console/view.h"
#include "http/escape.h"
#include "signin.h"

#define main console_main
#include "../../cgi-bin/console.c" // NOLINT(bugprone-suspicious-include)
#undef main

#define ACT                                                                    \
	"action=void&id=6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11&provider=shop&"   \
	"reference=p1"
#define POSTED "action=void&id=6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11&note=x"

static const struct tested_program console_program = {
	{ .name = "console",
		.routes = routes,
		.login = UM_LOGIN_OPERATOR,
		.calls = um_console_calls },
	UM_PURPOSE_CONNECT,
	"demo",
};

static int
set_up(void **state)
{
	int status = signin_set_up(state, &console_program);
	struct um_strlist *operators = &signin_config.operators;

	*operators = (struct um_strlist){ 0 };
	operators->item = calloc(1, sizeof(operators->item[0]));
	assert_non_null(operators->item);
	operators->item[operators->len++] = strdup("user-42");
	return status;
}

static int
tear_down(void **state)
{
	um_strlist_free(&signin_config.operators);
	return signin_tear_down(state);
}

/* What the browser was sent to the provider with. */
static void
read_signin(struct signin *signin, const struct signin_answer *answer)
{
	struct um_str state = um_form_get(&answer->sent, "state");
	struct um_str nonce = um_form_get(&answer->sent, "nonce");

	assert_int_equal(answer->end.ex.response.status, 303);
	assert_true(state.len != 0 && state.len < sizeof(signin->state));
	assert_true(nonce.len != 0 && nonce.len < sizeof(signin->nonce));
	snprintf(signin->state, sizeof(signin->state), "%.*s", (int)state.len,
		state.ptr);
	snprintf(signin->nonce, sizeof(signin->nonce), "%.*s", (int)nonce.len,
		nonce.ptr);
	signin->cookie = signin_cookie(answer, UM_SIGNIN_COOKIE);
}

static void
begin(struct signin *signin, const char *path, const char *query,
	const char *cookie)
{
	struct signin_answer answer;

	signin_ask(&answer, "GET", path, query, cookie);
	assert_str(um_form_get(&answer.sent, "redirect_uri"),
		"https://mcp.example/console/signin");
	read_signin(signin, &answer);
	signin_answer_free(&answer);
}

/* Posts the provider's answer. */
static void
come_back(struct signin_answer *answer, const struct signin *signin,
	const char *subject, const char *more)
{
	char *token = signin_token(signin->nonce, subject, more);
	struct um_buf body = { 0 };

	um_buf_cat(&body, "state=", signin->state, "&id_token=", token);
	um_buf_put(&body, "", 1);
	signin_ask(answer, "POST", "/console/signin", body.ptr, signin->cookie);
	um_buf_free(&body);
	free(token);
}

/* The cookie of the session of a user who has signed in for this address. */
static char *
sign_in(const char *path, const char *query, const char *cookie,
	const char *more, const char *goes_on)
{
	struct signin_answer answer;
	struct signin signin = { 0 };
	char *session;

	begin(&signin, path, query, cookie);
	come_back(&answer, &signin, "user-42", more);
	assert_int_equal(answer.end.ex.response.status, 303);
	assert_str(answer.location, goes_on);
	session = signin_cookie(&answer, UM_CONSOLE_COOKIE);
	signin_answer_free(&answer);
	free(signin.cookie);
	return session;
}

/* What a page comes to: the status, and the reason of its log line. */
static void
assert_page(const char *method, const char *path, const char *query,
	const char *cookie, int status, const char *reason)
{
	bool post = strcmp(method, "POST") == 0;
	const struct program_case test = { .name = path,
		.method = method,
		.path = path,
		.query = post ? NULL : query,
		.body = post ? query : NULL,
		.cookie = cookie,
		.site = "same-origin",
		.asks = status == 503 ? UM_OP_CALL : UM_OP_NONE,
		.says = "unavailable" };
	struct program_answer end;

	program_case_answer(&end, &console_program, &test);
	row_begin("%s %s?%s: %s", method, path, query, end.ex.reason);
	assert_int_equal(end.ex.response.status, status);
	if (reason != NULL)
		assert_string_equal(end.ex.reason, reason);
	program_answer_free(&end);
}

/* OpenID Connect: a session of its own, and a fresh sign-in for who decides. */
TEST(an_operator_signs_in)
{
	char *session = sign_in("/console/list", "what=held", "", "",
		"/console/list?what=held&signin=done");
	char *fresh;

	assert_page("GET", "/console/", "", session, 503, "unavailable");
	assert_page("GET", "/console/", "signin=done", "", 403,
		"session_missing");
	assert_page("POST", "/console/act", POSTED, "", 403, "session_ended");
	/* Who wants to decide signs in once more. */
	assert_page("POST", "/console/act", POSTED, session, 403,
		"session_ended");
	fresh = sign_in("/console/act", ACT, session,
		",\"auth_time\":1800000000",
		"/console/act?" ACT "&signin=done");
	assert_page("GET", "/console/act", ACT, fresh, 503, "unavailable");
	assert_page("POST", "/console/act", POSTED, fresh, 403,
		"token_invalid");
	case_context.now_ms += UM_CONSOLE_FRESH_S * INT64_C(1000);
	assert_page("GET", "/console/act", ACT "&signin=done", fresh, 403,
		"session_missing");
	assert_page("GET", "/console/", "", fresh, 503, "unavailable");
	free(fresh);
	free(session);
}

/* Also who has no session signs in for it once, not twice. */
TEST(a_link_to_an_action_is_followed_without_a_session)
{
	char *session = sign_in("/console/act", ACT, "",
		",\"auth_time\":1800000000",
		"/console/act?" ACT "&signin=done");

	assert_page("GET", "/console/act", ACT "&signin=done", session, 503,
		"unavailable");
	free(session);
}

static const char *
no_header(const char *name, void *arg)
{
	(void)name;
	(void)arg;
	return NULL;
}

static bool
policy_has(const char *part)
{
	struct um_exchange ex = { .request.get = no_header };
	bool has;

	um_view_begin(&case_context, &ex,
		(struct um_view_head){ .status = 200,
			.title = UM_TEXT_CONSOLE_SEARCH });
	has = str_has(um_buf_str(&ex.response.headers), um_str(part));
	um_response_free(&ex.response);
	return has;
}

/* The search of a page leads to the provider when the session has ended. */
TEST(a_form_may_lead_to_the_sign_in)
{
	assert_int_equal(signin_config.user_check, UM_USER_OPENID);
	assert_true(policy_has("frame-ancestors 'none'"));
	assert_false(policy_has("form-action"));
	signin_config.user_check = UM_USER_REMOTE;
	assert_true(policy_has("form-action 'self'"));
}

/* Of a time zone with summer time, a day may have 25 hours. */
TEST(no_statement_counts_days_of_a_time_zone)
{
	for (size_t i = 0; um_console_calls[i] != NULL; i++)
		assert_row(um_console_calls[i]->name,
			strstr(um_console_calls[i]->sql, " d'") == NULL);
}

static size_t
count_of(const struct um_buf *in, const char *what)
{
	size_t len = strlen(what), count = 0;

	for (size_t at = 0; at + len <= in->len; at++)
		count += memcmp(in->ptr + at, what, len) == 0;
	return count;
}

static void
add_end(json_t *rows, const char *at, const char *action, const char *reason,
	int number)
{
	json_array_append_new(rows,
		json_pack("{s:s, s:s, s:s, s:s, s:i}", "at", at, "kind",
			"oauth", "action", action, "reason", reason, "number",
			number));
}

static void
put_chart(struct um_buf *out, const json_t *rows)
{
	const struct um_view view = { .body = out,
		.now_ms = CASE_NOW * INT64_C(1000) };

	um_buf_clear(out);
	um_chart_put(&view,
		&(const struct um_chart){ .id = "x",
			.title = UM_TEXT_CONSOLE_NUMBER,
			.rows = rows,
			.bucket_ms = 86400000,
			.buckets = 30 });
}

static void
assert_chart_has(const struct um_buf *out, const char *text)
{
	assert_row(text, str_has(um_buf_str(out), um_str(text)));
}

/* How many kinds of ends there are, no page is longer, and none is missing. */
TEST(a_chart_counts_all)
{
	struct um_buf out = { 0 };
	json_t *rows = json_array();

	for (int i = 0; i < 400; i++) {
		char reason[16];

		snprintf(reason, sizeof(reason), "reason_%03d", i);
		add_end(rows, "2027-01-14T00:00:00+00:00", "cancel", reason,
			i == 7 || i == 399 ? 900 : 3);
	}
	put_chart(&out, rows);
	/* Beside its bars, and as a heading of the table. */
	assert_int_equal(count_of(&out, "reason_"), 2 * UM_CHART_SERIES);
	assert_int_equal(count_of(&out, "reason_007"), 2);
	/* The others: of 3 each, with the one that came too late. */
	assert_chart_has(&out, "<td class=\"n\">2073</td>");
	assert_chart_has(&out, "<td>2073</tr>");
	assert_chart_has(&out, "colspan");
	json_array_clear(rows);
	add_end(rows, "2027-01-14T00:00:00+00:00", "cancel", "expired", 5);
	put_chart(&out, rows);
	assert_false(str_has(um_buf_str(&out), STR("colspan")));
	json_array_clear(rows);
	put_chart(&out, rows);
	assert_false(str_has(um_buf_str(&out), STR("class=\"bars\"")));
	json_decref(rows);
	um_buf_free(&out);
}

/* Each hour or day has a bar and a number of each kind, action and reason. */
TEST(what_a_chart_draws_is_in_its_table)
{
	struct um_buf out = { 0 };
	json_t *rows = json_array();

	add_end(rows, "2027-01-15T00:00:00+00:00", "accept", "", 12);
	add_end(rows, "2027-01-15T00:00:00+00:00", "cancel", "expired", 6);
	add_end(rows, "2027-01-14T00:00:00+00:00", "cancel", "expired", 3);
	add_end(rows, "2026-01-01T00:00:00+00:00", "cancel", "expired", 99);
	put_chart(&out, rows);
	/* Of 18 in the highest bar. */
	assert_chart_has(&out, "accept\" d=\"M708 120v-71\"");
	assert_chart_has(&out, "cancel\" d=\"M684 120v-18M708 49v-35\"");
	assert_chart_has(&out, "accept\" d=\"M147 24v-24\"");
	assert_chart_has(&out, "cancel\" d=\"M142 24v-12M147 24v-24\"");
	assert_chart_has(&out, ">2027-01-15<td>12<td>0<td>6<td>12<td>6</tr>");
	assert_chart_has(&out, ">2027-01-14<td>0<td>0<td>3<td>0<td>3</tr>");
	assert_false(str_has(um_buf_str(&out), STR("99")));
	json_decref(rows);
	um_buf_free(&out);
}

TEST(who_is_no_operator_gets_no_session)
{
	struct signin_answer answer;
	struct signin signin = { 0 };

	begin(&signin, "/console/", "", "");
	come_back(&answer, &signin, "user-43", "");
	assert_int_equal(answer.end.ex.response.status, 403);
	assert_string_equal(answer.end.ex.reason, "not_operator");
	assert_true(signin_answer_has(&answer, "<bdi>user-43</bdi>"));
	assert_false(signin_answer_has(&answer, "user-42"));
	assert_false(signin_answer_has(&answer, UM_CONSOLE_COOKIE));
	assert_true(signin_answer_has(&answer, "signin&#61;again"));
	signin_answer_free(&answer);
	free(signin.cookie);
	/* Somebody else signs in from there. */
	signin_ask(&answer, "GET", "/console/", "signin=again", "");
	assert_str(um_form_get(&answer.sent, "prompt"), "select_account");
	signin_answer_free(&answer);
	signin_ask(&answer, "POST", "/console/signin", "id_token=x", "");
	assert_string_equal(answer.end.ex.reason, "state_missing");
	signin_answer_free(&answer);
}

TEST(a_session_that_was_changed_is_none)
{
	char *session = sign_in("/console/", "", "", "",
		"/console/?signin=done");
	char *value = strchr(session, '=') + 1, *issuer;
	size_t len = strlen(value);

	for (size_t i = 0; i < len; i++) {
		value[i] = (char)(value[i] ^ 1);
		assert_page("GET", "/console/", "", session, 303, NULL);
		value[i] = (char)(value[i] ^ 1);
	}
	signin_config.base_url = (char *)"https://other.example";
	assert_page("GET", "/console/", "", session, 303, NULL);
	signin_config.base_url = (char *)"https://mcp.example";
	/* Another issuer may know somebody else by this name. */
	issuer = signin_config.openid.issuer;
	signin_config.openid.issuer = (char *)"https://other.example";
	assert_page("GET", "/console/", "", session, 303, NULL);
	signin_config.openid.issuer = issuer;
	assert_page("GET", "/console/", "", session, 503, "unavailable");
	case_context.now_ms += 1800 * INT64_C(1000);
	assert_page("GET", "/console/", "", session, 303, NULL);
	free(session);
}

TEST(what_is_sealed_is_for_one_purpose)
{
	const struct um_str one[] = { STR("a"), STR("b"), { 0 } };
	const struct um_str other[] = { STR("a"), STR("c"), { 0 } };
	struct um_buf sealed = { 0 }, opened = { 0 };

	assert_true(um_console_seal(&sealed, &case_context, "act", one,
		STR("text"), 60));
	assert_true(um_console_open(&opened, &case_context, "act", one,
		um_buf_str(&sealed)));
	assert_str(um_buf_str(&opened), "text");
	assert_false(um_console_open(&opened, &case_context, "cursor", one,
		um_buf_str(&sealed)));
	assert_false(um_console_open(&opened, &case_context, "act", other,
		um_buf_str(&sealed)));
	assert_false(
		um_console_open(&opened, &case_context, "act", one, STR("")));
	case_context.now_ms += 60 * INT64_C(1000);
	assert_false(um_console_open(&opened, &case_context, "act", one,
		um_buf_str(&sealed)));
	um_buf_free(&sealed);
	um_buf_free(&opened);
}

TEST(fields_of_a_csv)
{
	static const struct {
		const char *text, *field;
	} cases[] = {
		{ "", "\"\"" },
		{ "a,\"b\"", "\"a,\"\"b\"\"\"" },
		{ "=1+1", "\"'=1+1\"" },
		{ "+1", "\"'+1\"" },
		{ "-1", "\"'-1\"" },
		{ "@A1", "\"'@A1\"" },
		{ "|cmd", "\"'|cmd\"" },
		{ " \t=1", "\"'  =1\"" },
		{ "\r\n=1", "\"'  =1\"" },
		{ "\xef\xbc\x9d"
		  "1",
			"\"'\xef\xbc\x9d"
			"1\"" },
		{ "a=1", "\"a=1\"" },
		{ "a;=cmd|' /C calc'!A0", "\"a;'=cmd|' /C calc'!A0\"" },
		{ "a; \t@A1;b", "\"a;'  @A1;b\"" },
		{ ";;-1", "\";;'-1\"" },
		{ "a;\"=1", "\"a;'\"\"=1\"" },
		{ "a; b\t=1", "\"a; b =1\"" },
		{ "a\x07"
		  "b\x7f",
			"\"a b \"" },
		/* NOLINTNEXTLINE(misc-misleading-bidirectional): the point */
		{ "a\xe2\x80\xae"
		  "b\xe2\x81\xa6",
			"\"a\xef\xbf\xbd"
			"b\xef\xbf\xbd\"" },
		{ "\xe2\x80\x93", "\"\xe2\x80\x93\"" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct um_buf out = { 0 };

		um_csv_put_field(&out, um_str(cases[i].text));
		assert_row(cases[i].field,
			um_str_is(um_buf_str(&out), cases[i].field));
		um_buf_free(&out);
	}
}

TEST(text_of_others_is_escaped_and_cut)
{
	struct um_buf out = { 0 };
	const struct um_view view = { .body = &out };
	char text[4096];

	/* NOLINTNEXTLINE(misc-misleading-bidirectional): the point of it */
	um_view_put(&view, STR("<b>&\"'\xe2\x80\xae"), 1000);
	assert_str(um_buf_str(&out),
		"<bdi>&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd</bdi>");
	/* Whatever it holds, it takes no more room, and no character is cut. */
	memset(text, '"', sizeof(text));
	um_buf_clear(&out);
	um_view_put(&view, (struct um_str){ text, sizeof(text) }, 150);
	assert_true(out.len < 150 + 32);
	assert_true(str_has(um_buf_str(&out), STR("\xe2\x80\xa6</bdi>")));
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 == 0 ? '\xc3' : '\xa9';
	for (size_t max = 100; max < 108; max++) {
		um_buf_clear(&out);
		um_view_put(&view, (struct um_str){ text, sizeof(text) }, max);
		assert_true(um_str_is_text(um_buf_str(&out)));
	}
	um_buf_clear(&out);
	um_view_id(&view, STR("\"><script>"));
	assert_int_equal(out.len, 0);
	um_buf_free(&out);
}

/* Content Security Policy Level 3 section 2.3.1. */
TEST(the_hash_of_the_style)
{
	static const char *const parts[] = { UM_STYLE_BOTH, UM_CONSOLE_STYLE,
		UM_CONSOLE_STYLE_MORE, UM_CONSOLE_STYLE_FORCED };
	uint8_t digest[EVP_MAX_MD_SIZE];
	struct um_buf all = { 0 };
	char hash[64] = "sha256-";

	for (size_t i = 0; i < LENGTH(parts); i++)
		um_buf_puts(&all, parts[i]);
	assert_int_equal(EVP_Digest(all.ptr, all.len, digest, NULL,
				 EVP_sha256(), NULL),
		1);
	EVP_EncodeBlock((unsigned char *)hash + strlen(hash), digest, 32);
	assert_string_equal(hash, UM_CONSOLE_STYLE_HASH);
	um_buf_free(&all);
}

#define GOOD                                                                   \
	"\"base_url\": \"https://console.example\", \"keys_file\": \"keys\", " \
	"\"database_url\": \"postgresql://op:hunter2@db/urlmode\", "           \
	"\"providers_dir\": \"/nowhere\""

/* The configuration, or NULL: *err ends with `error`. */
static void
assert_config(const char *more, const char *error)
{
	struct um_buf text = { 0 };
	struct um_config *config = NULL;
	struct um_error err = { "" };
	char *path;
	bool ok;

	um_buf_cat(&text, "{" GOOD ", ", more, "}");
	path = file_make(um_buf_str(&text), 0600);
	ok = um_config_load_console(&config, path, &err);
	row_begin("%s: %s", more, err.text);
	assert_int_equal(ok, error == NULL);
	if (error != NULL)
		assert_non_null(strstr(err.text, error));
	else
		assert_true(um_config_is_operator(config, "ada")
			&& !um_config_is_operator(config, "eve")
			&& !um_config_is_operator(config, ""));
	assert_null(strstr(err.text, "hunter2"));
	um_config_free(config);
	file_remove(path);
	um_buf_free(&text);
}

TEST(the_configuration_names_who_may)
{
	char text[512], name[202];

	assert_config("\"console\": {\"operators\": [\"ada\", \"bob\"]}", NULL);
	assert_config("\"log_file\": \"log\"", "/console: is missing");
	assert_config("\"console\": {}", "/console/operators");
	assert_config("\"console\": {\"operators\": []}", "/console/operators");
	assert_config("\"console\": {\"operators\": [\"\"]}",
		"/console/operators: holds something");
	assert_config("\"console\": {\"operators\": [\"ada\"], \"more\": 1}",
		"/console/more");
	assert_config("\"console\": {\"operators\": [\"ada\"]}, "
		      "\"user_check\": \"confirm\"",
		"/user_check: is not remote-user or openid");
	assert_config("\"console\": {\"operators\": [\"ada\"]}, "
		      "\"user_check\": \"openid\"",
		"/openid: is missing");
	assert_config("\"providers\": {}", "/providers");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "\"console\": {\"operators\": [\"%s\"]}",
		name);
	assert_config(text, "/console/operators/0: is too long");
}

TEST(when_a_description_was_compared)
{
	struct um_error err = { "" };
	struct um_config *config = NULL;
	struct um_buf text = { 0 };
	char *here = realpath("lib/providers", NULL), *path;
	const char *day;

	um_buf_cat(&text,
		"{\"base_url\": \"https://console.example\", "
		"\"keys_file\": \"keys\", "
		"\"database_url\": \"postgresql://db/urlmode\", "
		"\"console\": {\"operators\": [\"ada\"]}, "
		"\"providers_dir\": \"",
		here, "\"}");
	path = file_make(um_buf_str(&text), 0600);
	assert_true(um_config_load_console(&config, path, &err));
	day = um_config_compared(config, STR("stripe"));
	assert_non_null(day);
	assert_int_equal(strlen(day), 10);
	assert_null(um_config_compared(config, STR("schema")));
	assert_null(um_config_compared(config, STR("")));
	um_config_free(config);
	file_remove(path);
	um_buf_free(&text);
	free(here);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_operator_signs_in, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_link_to_an_action_is_followed_without_a_session,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_form_may_lead_to_the_sign_in,
			set_up, tear_down),
		cmocka_unit_test(no_statement_counts_days_of_a_time_zone),
		cmocka_unit_test(a_chart_counts_all),
		cmocka_unit_test(what_a_chart_draws_is_in_its_table),
		cmocka_unit_test_setup_teardown(
			who_is_no_operator_gets_no_session, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_session_that_was_changed_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_sealed_is_for_one_purpose, set_up, tear_down),
		cmocka_unit_test(fields_of_a_csv),
		cmocka_unit_test(text_of_others_is_escaped_and_cut),
		cmocka_unit_test(the_hash_of_the_style),
		cmocka_unit_test(the_configuration_names_who_may),
		cmocka_unit_test(when_a_description_was_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
