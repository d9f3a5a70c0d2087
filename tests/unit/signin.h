/* SPDX-License-Identifier: MIT */
/* A sign-in with user_check "openid", for tests. */
#ifndef TEST_SIGNIN_H
#define TEST_SIGNIN_H

#include "app/session.h"
#include "app/signin.h"
#include "program_case.h"

#define START "state={link}"
#define HEADER "{\"alg\":\"ES256\",\"kid\":\"1\"}"

/* The program at which a sign-in ends. */
extern const struct tested_program signin_return;

/* The configuration, and what is asked; set by signin_set_up(). */
extern struct um_config signin_config;

/* What a request of this browser came to. */
struct signin_answer {
	struct program_answer end;
	struct um_str location;
	struct um_form sent; /* the parameters of the location */
};

/* What the browser has been sent to the provider with. */
struct signin {
	char state[1024], nonce[64];
	char *cookie;
};

/* For the tests of a program at which one begins: before and after each. */
int signin_set_up(void **state, const struct tested_program *program);
int signin_tear_down(void **state);

void signin_ask(struct signin_answer *answer, const char *method,
	const char *path, const char *text, const char *cookie);
void signin_answer_free(struct signin_answer *answer);
bool signin_answer_has(const struct signin_answer *answer, const char *text);

/* The value of a cookie that the answer sets, as a Cookie header has it. */
char *signin_cookie(const struct signin_answer *answer, const char *name);

/* Opens /connect, which sends the browser to the provider. */
void signin_begin_with(struct signin *signin, const char *query,
	const char *cookie);
struct signin signin_begin(void);

/* An id token of the provider; `more` is added to its claims. */
char *signin_token(const char *nonce, const char *subject, const char *more);

/* Posts a good return, and gives back the cookie of the session. */
char *signin_as(const char *subject, const char *more);

/* Takes the keys and the entry of the configuration that a vector has. */
void signin_use_vector(const json_t *vector);

#endif
