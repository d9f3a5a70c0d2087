/* SPDX-License-Identifier: MIT */
#include "form/answers.h"

#include <stdlib.h>

#include "core/json_put.h"
#include "form/characters.h"

#define CHECKED "on" /* the value of a checkbox that is ticked */

/* Copies a value to *at, which has room, and moves *at to its end. */
static struct um_str
take_value(char **at, struct um_str value, bool lines, bool trims)
{
	char *begin = *at;

	if (trims)
		value = um_str_trim(value);
	for (size_t i = 0; i < value.len; i++) {
		if (lines && value.ptr[i] == '\r' && i + 1 < value.len
			&& value.ptr[i + 1] == '\n')
			continue;
		*(*at)++ = value.ptr[i];
	}
	return (struct um_str){ begin, (size_t)(*at - begin) };
}

static enum um_mistake
check_input(const struct um_input *input, struct um_str value)
{
	if (value.len == 0)
		return input->required ? UM_MISTAKE_MISSING : UM_MISTAKE_NONE;
	if (input->type == UM_INPUT_CHECKBOX)
		return um_str_is(value, CHECKED) ? UM_MISTAKE_NONE
						 : UM_MISTAKE_CHOICE;
	return um_value_check(input, value);
}

static enum um_mistake
check_comment(enum um_comment comment, struct um_str value)
{
	size_t count;

	if (value.len == 0)
		return comment == UM_COMMENT_REQUIRED ? UM_MISTAKE_MISSING
						      : UM_MISTAKE_NONE;
	if (!um_characters_count(&count, value, true))
		return UM_MISTAKE_CHARACTERS;
	return count > UM_FORM_COMMENT_MAX ? UM_MISTAKE_TOO_LONG
					   : UM_MISTAKE_NONE;
}

/* The place for the answer to a parameter, or NULL. */
static struct um_answered *
place_of(struct um_answers *answers, const struct um_definition *definition,
	struct um_str name, const struct um_input **input)
{
	*input = NULL;
	if (definition->comment != UM_COMMENT_NONE
		&& um_str_is(name, UM_ANSWER_COMMENT))
		return &answers->comment;
	if (!um_str_take_prefix(&name, UM_ANSWER_PREFIX))
		return NULL;
	*input = um_definition_input(definition, name);
	return *input != NULL ? &answers->input[*input - definition->input]
			      : NULL;
}

/* More than a result holds: the longest value is to be shortened. */
static void
check_together(struct um_answers *answers,
	const struct um_definition *definition)
{
	struct um_answered *longest = &answers->input[0];
	struct um_buf json = { 0 };

	um_answers_put(&json, answers, definition, true);
	for (size_t i = 1; i < definition->inputs_len; i++)
		if (answers->input[i].value.len > longest->value.len)
			longest = &answers->input[i];
	if (json.len > UM_ANSWERS_MAX) {
		longest->mistake = UM_MISTAKE_TOGETHER;
		answers->mistakes++;
	}
	um_buf_free(&json);
}

static void
check(struct um_answers *answers, const struct um_definition *definition)
{
	for (size_t i = 0; i < definition->inputs_len; i++) {
		struct um_answered *answered = &answers->input[i];

		answered->mistake = check_input(&definition->input[i],
			answered->value);
		answers->mistakes += answered->mistake != UM_MISTAKE_NONE;
	}
	answers->comment.mistake = check_comment(definition->comment,
		answers->comment.value);
	answers->mistakes += answers->comment.mistake != UM_MISTAKE_NONE;
	if (answers->mistakes == 0)
		check_together(answers, definition);
}

enum um_answers_state
um_answers_read(struct um_answers *answers,
	const struct um_definition *definition, const struct um_form *form,
	bool checks)
{
	char *at;

	*answers = (struct um_answers){ 0 };
	answers->bytes = at = malloc(form->size + 1);
	if (at == NULL)
		return UM_ANSWERS_FAILED;
	answers->bytes_len = form->size + 1;
	for (size_t i = 0; i < form->len; i++) {
		const struct um_field *field = &form->field[i];
		const struct um_input *input;
		struct um_answered *answered;
		bool lines;

		if (um_str_is(field->name, "state")
			|| um_str_is(field->name, "answer")
			|| um_str_is(field->name, UM_ANSWER_READER))
			continue;
		answered = place_of(answers, definition, field->name, &input);
		if (answered == NULL)
			return UM_ANSWERS_UNKNOWN;
		lines = input == NULL || input->has_lines;
		answered->value = take_value(&at, field->value, lines,
			!lines && input->type != UM_INPUT_SECRET);
	}
	if (checks)
		check(answers, definition);
	return UM_ANSWERS_READ;
}

static void
put_value(struct um_buf *json, const struct um_input *input,
	struct um_str value)
{
	if (value.len == 0 && input->type != UM_INPUT_CHECKBOX)
		return;
	um_json_put_key(json, input->name);
	if (input->type == UM_INPUT_CHECKBOX)
		um_json_put_bool(json, value.len != 0);
	else if (input->type == UM_INPUT_NUMBER)
		um_buf_put(json, value.ptr, value.len);
	else
		um_json_put_string(json, value);
}

void
um_answers_put(struct um_buf *json, const struct um_answers *answers,
	const struct um_definition *definition, bool secrets)
{
	um_json_put_begin(json);
	for (size_t i = 0; i < definition->inputs_len; i++)
		if (secrets || definition->input[i].type != UM_INPUT_SECRET)
			put_value(json, &definition->input[i],
				answers->input[i].value);
	um_json_put_end(json);
}

/* Appends a member, unless it is too long; then false. */
static bool
put_typed(struct um_buf *json, struct um_str name, struct um_str value,
	size_t max)
{
	const size_t before = json->len;

	if (value.len == 0)
		return true;
	um_json_put_key(json, name);
	um_json_put_string(json, value);
	/* With the brace that ends the object. */
	if (json->len < max)
		return true;
	json->len = before;
	return false;
}

bool
um_answers_put_typed(struct um_buf *json, const struct um_answers *answers,
	const struct um_definition *definition, size_t max)
{
	bool all = true;

	um_json_put_begin(json);
	for (size_t i = 0; i < definition->inputs_len; i++)
		if (definition->input[i].type != UM_INPUT_SECRET)
			all &= put_typed(json, definition->input[i].name,
				answers->input[i].value, max);
	if (definition->comment != UM_COMMENT_NONE)
		all &= put_typed(json, um_str(UM_ANSWER_COMMENT),
			answers->comment.value, max);
	um_json_put_end(json);
	return all;
}

static struct um_str
text_of(const struct um_json_node *value)
{
	if (um_json_is(value, UM_JSON_TRUE))
		return um_str(CHECKED);
	if (um_json_is(value, UM_JSON_STRING)
		|| um_json_is(value, UM_JSON_INTEGER)
		|| um_json_is(value, UM_JSON_REAL))
		return um_json_str(value);
	return (struct um_str){ 0 };
}

/* The comment that it has, where the definition asks for one. */
static struct um_str
comment_of(const struct um_definition *definition,
	const struct um_json_node *values)
{
	return definition->comment != UM_COMMENT_NONE
		? text_of(um_json_member(values, um_str(UM_ANSWER_COMMENT)))
		: (struct um_str){ 0 };
}

bool
um_answers_read_json(struct um_answers *answers,
	const struct um_definition *definition,
	const struct um_json_node *values)
{
	struct um_str comment = comment_of(definition, values);
	size_t len = 1 + comment.len;
	char *at;

	*answers = (struct um_answers){ 0 };
	for (size_t i = 0; i < definition->inputs_len; i++)
		len += text_of(
			um_json_member(values, definition->input[i].name))
			       .len;
	answers->bytes = at = malloc(len);
	if (at == NULL)
		return false;
	answers->bytes_len = len;
	for (size_t i = 0; i < definition->inputs_len; i++)
		answers->input[i].value = take_value(&at,
			text_of(um_json_member(values,
				definition->input[i].name)),
			false, false);
	answers->comment.value = take_value(&at, comment, false, false);
	return true;
}

void
um_answers_free(struct um_answers *answers)
{
	um_wipe_free(answers->bytes, answers->bytes_len);
	*answers = (struct um_answers){ 0 };
}
