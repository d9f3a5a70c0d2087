/* SPDX-License-Identifier: MIT */
/*
 * The pure core of a program, on trial without a server: one row of a table
 * is a request, what the database is made to say, and what must come of it.
 */
#ifndef TEST_TRIAL_H
#define TEST_TRIAL_H

#include "app/program.h"
#include "support.h"

#define TRIAL_NOW INT64_C(1800000000)
#define TRIAL_ID "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"
#define TRIAL_REQUEST_ID "0123456789abcdef0123456789abcdef"
#define TRIAL_COOKIE "AAECAwQFBgcICQoLDA0ODw"
#define TRIAL_ISSUER "https://issuer.example"

#define COOKIE(value) UM_COOKIE_NAME "=" value
#define DONE_COOKIE(ending)                                                    \
	UM_FINAL_PAGE_COOKIE                                                   \
	"=" ending "; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax"

/* Must reach no page and no log line; for codes, descriptions and the like. */
#define SECRET "S3cr3t"

/*
 * These stand for tokens in `query` and `body`. Without a word to the
 * contrary each is for the trial's row, purpose and provider, this browser,
 * and for five minutes:
 *
 *   {bound}      in order
 *   {unbound}    for any browser
 *   {elsewhere}  for another browser
 *   {expired}    as of this second
 *   {purpose}    for another purpose
 *   {provider}   for another provider
 *   {key}        under a key that is not in the file
 */
struct trial {
	const char *name;

	const char *method; /* NULL: GET */
	const char *path;
	const char *query;
	const char *body;
	const char *type;   /* NULL: a form, where there is a body */
	const char *cookie; /* the header; NULL: TRIAL_COOKIE, "": none */
	const char *user;   /* REMOTE_USER */
	bool prefetch;
	bool body_too_large;
	bool checks_user; /* whether user_check counts; else it is confirm */
	enum um_user_check user_check;

	/* What plan() must ask the database for, and what that says. */
	enum um_op_kind asks;
	enum um_outcome says;
	/* What answer() must ask it for then. */
	enum um_op_kind asks_then;
	enum um_outcome says_then;
	struct um_row row; /* that it says at first */

	/* What must come of it; NULL is not compared. */
	int status;
	const char *reason;      /* of the log, and of a refusal's page */
	const char *outcome;     /* of the log */
	const char *location;    /* "" for none; the last `*` is a state */
	const char *sets_cookie; /* one of them; "" for none */
	const char *refresh;     /* likewise */
	const char *action;
	const char *op_reason;
	const char *result; /* what is sealed; "" for none */
	const char *on_page;
};

/* What is left of a trial; trial_free() it. */
struct trial_end {
	struct um_exchange ex;
	struct um_buf out;
	struct um_buf log;
	struct um_buf path;
	struct um_buf query;
	struct um_buf body;
};

/* The program's two functions, and what its tokens are for. */
struct trial_program {
	struct um_program program;
	enum um_purpose purpose;
	const char *provider;
};

extern struct um_context trial_context;

/*
 * "demo", "lax" and "plain" are of kind oauth, with an issuer that must send
 * `iss`, that need not, and without an issuer; "shop" is of kind payment.
 */
struct um_provider *trial_provider(const char *name);

int trial_set_up(void **state);
int trial_tear_down(void **state);

/* The whole of it, with every check that the row names and those that hold
 * for any answer. */
void trial_run(const struct trial_program *program, const struct trial *trial);
void trial_run_all(const struct trial_program *program,
	const struct trial *trials, size_t len);

/* The same, and what is left of it. */
void trial_go(struct trial_end *end, const struct trial_program *program,
	const struct trial *trial);
void trial_free(struct trial_end *end);

/* What the row says of the operation that plan() asks for, and of the end. */
void trial_check_op(const struct trial *trial, const struct um_exchange *ex);
/* The action, reason and result of the last operation that is asked for. */
void trial_check_deed(const struct trial *trial, const struct um_op *op);
void trial_check(const struct trial *trial, const struct trial_end *end);

/* That the text is a token of the trial's row, for the browser with this
 * cookie and for the provider "demo". */
void trial_assert_token(struct um_str text, enum um_purpose purpose,
	int64_t expires, struct um_str cookie);

/* The value of a header; .ptr is NULL where there is none. */
struct um_str trial_header(const struct trial_end *end, const char *name);

#endif
