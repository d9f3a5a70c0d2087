/* SPDX-License-Identifier: MIT */
/* The program behind the operator's command, which is a shell script. */
#ifndef UM_OPERATE_MAIN_H
#define UM_OPERATE_MAIN_H

/*
 * Answers one question, of those in query.h, issuer.h and
 * check_delivery.h:
 *
 *   config KEY... | keys FILE | jwks FILE | discovery FILE ISSUER | socket PATH
 *   state PROVIDER | sql | conninfo | pages
 *   delivery ARGUMENT...
 *
 * URLMODE_CONFIG names the configuration. Answers nothing in the environment of
 * a CGI request. Returns the exit status for main().
 */
int um_operate_main(int argc, char **argv);

#endif
