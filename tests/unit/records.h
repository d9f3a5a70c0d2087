/* SPDX-License-Identifier: MIT */
/* FastCGI records (specification 1.0, section 3.3), good and bad ones. */
#ifndef TEST_RECORDS_H
#define TEST_RECORDS_H

#include "server/fcgi_check.h"
#include "support.h"

/* Those of the types that a test puts somewhere. */
enum {
	BEGIN = 1,
	ABORT = 2,
	END = 3,
	PARAMS = 4,
	IN = 5,
	OUT = 6,
	DATA = 8,
	GET_VALUES = 9
};

/* Of a responder, whose connection is kept. */
#define BEGIN_CONTENT STR("\0\1\1\0\0\0\0\0")
/* As long as a record's content can be. */
#define CONTENT_MAX 65535

/* All of these append. */
void put_record(struct um_buf *out, int type, int id, struct um_str content,
	int padding);
void put_begin(struct um_buf *out, int id);
void put_pair(struct um_buf *out, struct um_str name, struct um_str value);

/* The pairs as the only PARAMS record of an otherwise good request. */
void put_request_of(struct um_buf *out, struct um_str pairs);
/* A request as nginx sends it. */
void put_request(struct um_buf *out, int id, struct um_str body);

/* Checks all of it at once; frees the buffer. */
enum um_fcgi_check_state scan_all(struct um_buf *bytes);

/*
 * Appends what these records answer to request `id`, and nothing else. True
 * when its end is among them; it must say that all is well.
 */
bool read_answer(struct um_buf *content, struct um_str bytes, int id);

#endif
