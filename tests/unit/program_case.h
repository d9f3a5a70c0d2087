/* SPDX-License-Identifier: MIT */
/*
 * Tests the pure core of a program without a server: one row of a table
 * is a request, what the database is made to say, and what must come of it.
 */
#ifndef TEST_PROGRAM_CASE_H
#define TEST_PROGRAM_CASE_H

#include "app/checks.h"
#include "app/respond.h"
#include "app/route.h"
#include "support.h"

#define CASE_NOW INT64_C(1800000000)
#define CASE_ID "6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11"
#define CASE_REQUEST_ID "0123456789abcdef0123456789abcdef"
#define CASE_COOKIE "AAECAwQFBgcICQoLDA0ODw"
#define CASE_ISSUER "https://issuer.example"

#define COOKIE(value) UM_COOKIE_NAME "=" value
#define DONE_COOKIE(ending)                                                    \
	UM_FINAL_PAGE_COOKIE                                                   \
	"=" ending "; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=Lax"

/* Must reach no page and no log line; for codes, descriptions and the like. */
#define SECRET "S3cr3t"

/*
 * These stand for tokens in `query` and `body`. Without a word to the
 * contrary each is for the case's row, purpose and provider, this browser,
 * and for five minutes:
 *
 *   {bound}      in order
 *   {unbound}    for any browser
 *   {elsewhere}  for another browser
 *   {expired}    as of this second
 *   {purpose}    for another purpose
 *   {provider}   for another provider
 *   {key}        under a key that is not in the file
 *   {link}       the short state of the case's link; {link-provider},
 *                {link-purpose}, {link-key}: one that differs in that;
 *                {link-cut}: without its last character
 */
struct program_case {
	const char *name;

	const char *method; /* NULL: GET */
	const char *path;
	const char *query;
	const char *body;
	const char *type;   /* NULL: a form, where there is a body */
	const char *cookie; /* the header; NULL: CASE_COOKIE, "": none */
	const char *user;   /* REMOTE_USER */
	const char *site;   /* Sec-Fetch-Site */
	bool prefetch;
	bool body_too_large;
	const char *user_check; /* of the configuration; NULL: "confirm" */

	/*
	 * The operation that plan() must request, and what the database says:
	 * a word of its outcomes, "ok" where it has none, "unavailable",
	 * "unanswered" (it was sent, and may be carried out) or "failed".
	 */
	enum um_op_kind asks;
	const char *says;
	/* The operation that the next step must request. */
	enum um_op_kind asks_then;
	const char *says_then;
	struct um_row row; /* that it says at first */
	/* The operation after that, and the row that the database says then. */
	enum um_op_kind asks_last;
	const char *says_last;
	struct um_row row_last;

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

/* What is left of a test; program_answer_free() it. */
struct program_answer {
	struct um_exchange ex;
	struct um_buf out;
	struct um_buf log;
	struct um_buf path;
	struct um_buf query;
	struct um_buf body;
};

/* A program, and what its tokens are for. */
struct tested_program {
	struct um_program program;
	enum um_purpose purpose;
	const char *provider;
};

extern struct um_context case_context;

/*
 * "demo", "lax" and "plain" are of kind oauth, with an issuer that must send
 * `iss`, that need not, and without an issuer; "shop" is of kind payment,
 * "intake" of kind input, "approvals" of kind approval, with four eyes.
 */
struct um_provider *case_provider(const char *name);

int program_case_set_up(void **state);
int program_case_tear_down(void **state);

/* The whole of it, with every check that the row names and those that hold
 * for any answer. */
void program_case_run(const struct tested_program *program,
	const struct program_case *test);
void program_case_run_all(const struct tested_program *program,
	const struct program_case *cases, size_t len);

/* The same, and what is left of it. */
void program_case_answer(struct program_answer *end,
	const struct tested_program *program, const struct program_case *test);
void program_answer_free(struct program_answer *end);

/* Sets what came of an operation; `word` is one as in `says` above. */
void database_says(struct um_op *op, const char *word);

/* Compares the operation that plan() requests with what the case expects. */
void program_case_check_op(const struct program_case *test,
	const struct um_exchange *ex);
/* Compares the action, reason and result of the last operation. */
void program_case_check_written(const struct program_case *test,
	const struct um_op *op);
void program_case_check(const struct program_case *test,
	const struct program_answer *end);

/* That the text is a token of the case's row, for the browser with this
 * cookie and for the provider "demo". */
void assert_case_token(struct um_str text, enum um_purpose purpose,
	int64_t expires, struct um_str cookie);

/* The value of a header; .ptr is NULL where there is none. */
struct um_str program_answer_header(const struct program_answer *end,
	const char *name);

#endif
