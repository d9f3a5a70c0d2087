/* SPDX-License-Identifier: MIT */
#include "api/watched.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_MIN 64

void
um_watched_begin(struct um_watched *watched)
{
	*watched = (struct um_watched){ .len = 0 };
	TAILQ_INIT(&watched->idle);
}

static bool
grow(struct um_watched *watched)
{
	size_t len = watched->places_len != 0 ? 2 * watched->places_len
					      : PLACES_MIN;
	struct um_watched_place *places = calloc(len, sizeof(*places));

	if (places == NULL)
		return false;
	for (size_t i = 0; i < watched->places_len; i++)
		for (struct um_watched_row *row = watched->places[i].first,
					   *next;
			row != NULL; row = next) {
			struct um_watched_row **to =
				&places[um_uuid_hash(row->id) & (len - 1)]
					 .first;

			next = row->next;
			row->next = *to;
			*to = row;
		}
	free(watched->places);
	watched->places = places;
	watched->places_len = len;
	return true;
}

static struct um_watched_row *
find_or_add(struct um_watched *watched,
	const struct um_watched_element *element)
{
	struct um_watched_row **place, *row;

	if (watched->len >= watched->places_len && !grow(watched))
		return NULL;
	place = &watched->places[um_uuid_hash(element->id)
				& (watched->places_len - 1)]
			 .first;
	for (row = *place; row != NULL; row = row->next)
		if (memcmp(row->id, element->id, sizeof(row->id)) == 0
			&& memcmp(row->binding, element->binding,
				   sizeof(row->binding))
				== 0)
			return row;
	row = calloc(1, sizeof(*row));
	if (row == NULL)
		return NULL;
	memcpy(row->id, element->id, sizeof(row->id));
	memcpy(row->binding, element->binding, sizeof(row->binding));
	row->due_at = -1;
	LIST_INIT(&row->elements);
	row->next = *place;
	*place = row;
	watched->len++;
	TAILQ_INSERT_TAIL(&watched->idle, row, idle);
	watched->idle_len++;
	return row;
}

static void
drop_kept(struct um_watched *watched, struct um_watched_row *row)
{
	watched->bytes -= row->object_len + row->verifier_len;
	um_wipe_free(row->kept, row->object_len + row->verifier_len);
	row->kept = NULL;
	row->object_len = row->verifier_len = 0;
}

/* A row without elements. */
static void
forget(struct um_watched *watched, struct um_watched_row *row)
{
	struct um_watched_row **at =
		&watched->places[um_uuid_hash(row->id)
				& (watched->places_len - 1)]
			 .first;

	while (*at != row)
		at = &(*at)->next;
	*at = row->next;
	watched->len--;
	TAILQ_REMOVE(&watched->idle, row, idle);
	watched->idle_len--;
	drop_kept(watched, row);
	free(row);
}

/* Whether a lease may be had, which only a read can tell. */
static bool
can_answer(const struct um_watched_element *element)
{
	return element->row->is_asked
		&& (element->can_check || element->can_recheck);
}

bool
um_watched_join(struct um_watched *watched, struct um_watched_element *element,
	int64_t now)
{
	struct um_watched_row *row = find_or_add(watched, element);

	if (row == NULL)
		return false;
	if (LIST_EMPTY(&row->elements)) {
		TAILQ_REMOVE(&watched->idle, row, idle);
		watched->idle_len--;
	}
	element->row = row;
	element->due_at = -1;
	LIST_INSERT_HEAD(&row->elements, element, link);
	element->is_due = !row->is_read || row->due_at <= now
		|| !element->has_seen || can_answer(element)
		|| memcmp(row->shown, element->seen, sizeof(row->shown)) != 0;
	return true;
}

void
um_watched_leave(struct um_watched *watched, struct um_watched_element *element,
	int64_t now)
{
	struct um_watched_row *row = element->row;

	if (row == NULL)
		return;
	LIST_REMOVE(element, link);
	element->row = NULL;
	row->used_at = now;
	if (!LIST_EMPTY(&row->elements))
		return;
	TAILQ_INSERT_TAIL(&watched->idle, row, idle);
	watched->idle_len++;
	/* Anybody can make up an id. */
	if (row->due_at < 0)
		forget(watched, row);
	else if (watched->idle_len > UM_WATCHED_IDLE_MAX)
		forget(watched, TAILQ_FIRST(&watched->idle));
}

static void
change(struct um_watched_row *row, bool is_taken)
{
	row->is_read = is_taken;
	row->announced++;
}

static void
announce(struct um_watched_row *row, bool is_taken,
	const struct um_watched_events *events)
{
	struct um_watched_element *element;

	change(row, is_taken);
	LIST_FOREACH(element, &row->elements, link)
	{
		element->is_due = true;
		events->wake(element->call, events->arg);
	}
}

/* The rows in the place of this id, which others share. */
static struct um_watched_row *
first_of(const struct um_watched *watched, const uint8_t id[static UM_UUID_LEN])
{
	return watched->len != 0
		? watched->places[um_uuid_hash(id) & (watched->places_len - 1)]
			  .first
		: NULL;
}

void
um_watched_changed(struct um_watched *watched,
	const uint8_t id[static UM_UUID_LEN])
{
	for (struct um_watched_row *row = first_of(watched, id); row != NULL;
		row = row->next)
		if (memcmp(row->id, id, UM_UUID_LEN) == 0)
			change(row, false);
}

void
um_watched_announced(struct um_watched *watched,
	const uint8_t id[static UM_UUID_LEN],
	const struct um_watched_events *events)
{
	for (struct um_watched_row *row = first_of(watched, id); row != NULL;
		row = row->next)
		if (memcmp(row->id, id, UM_UUID_LEN) == 0)
			announce(row,
				row->is_read && row->kept != NULL
					&& events->take(row, events->arg),
				events);
}

void
um_watched_all_announced(struct um_watched *watched,
	const struct um_watched_events *events)
{
	for (size_t i = 0; i < watched->places_len; i++)
		for (struct um_watched_row *row = watched->places[i].first;
			row != NULL; row = row->next)
			announce(row, false, events);
}

/* Keeps a copy, for which those make room that no call has now. */
static void
keep(struct um_watched *watched, struct um_watched_row *row,
	const struct um_watched_state *state)
{
	size_t len = state->object.len + state->verifier.len;

	if (len > UM_WATCHED_OBJECT_MAX)
		return;
	while (watched->bytes + len > UM_WATCHED_BYTES_MAX
		&& !TAILQ_EMPTY(&watched->idle)
		&& TAILQ_FIRST(&watched->idle) != row)
		forget(watched, TAILQ_FIRST(&watched->idle));
	if (watched->bytes + len > UM_WATCHED_BYTES_MAX
		|| (row->kept = malloc(len)) == NULL)
		return;
	memcpy(row->kept, state->object.ptr, state->object.len);
	if (state->verifier.len != 0)
		memcpy(row->kept + state->object.len, state->verifier.ptr,
			state->verifier.len);
	row->object_len = state->object.len;
	row->verifier_len = state->verifier.len;
	watched->bytes += len;
}

void
um_watched_show(struct um_watched *watched, struct um_watched_row *row,
	const struct um_watched_state *state, int64_t due_at)
{
	drop_kept(watched, row);
	keep(watched, row, state);
	memcpy(row->shown, state->digest, sizeof(row->shown));
	row->is_completed = state->is_completed;
	row->is_claimable = state->is_claimable;
	row->is_asked = state->is_asked;
	row->due_at = due_at;
}

bool
um_watched_is_known(const struct um_watched_element *element, int64_t now)
{
	const struct um_watched_row *row = element->row;

	return row->is_read && row->kept != NULL && row->due_at > now
		&& !row->is_claimable && !can_answer(element);
}

bool
um_watched_has_moved(const struct um_watched_element *element)
{
	return !element->has_seen
		|| memcmp(element->seen, element->row->shown, UM_SEEN_BYTES)
		!= 0;
}

struct um_str
um_watched_object(const struct um_watched_row *row)
{
	return (struct um_str){ row->kept, row->object_len };
}

struct um_str
um_watched_verifier(const struct um_watched_row *row)
{
	return (struct um_str){ row->kept + row->object_len,
		row->verifier_len };
}

void
um_watched_begin_read(struct um_watched_element *element)
{
	element->is_due = false;
	element->read_at_announced = element->row->announced;
}

void
um_watched_end_read(struct um_watched *watched,
	struct um_watched_element *element,
	const struct um_watched_state *state, int64_t due_at, bool listening)
{
	struct um_watched_row *row = element->row;
	bool is_last = row->announced == element->read_at_announced;

	/* What was announced meanwhile is newer, and another read has shown it. */
	if (row->is_read && !is_last)
		return;
	um_watched_show(watched, row, state, due_at);
	row->is_read = listening && is_last;
}

void
um_watched_forget(struct um_watched *watched, int64_t now)
{
	struct um_watched_row *row = TAILQ_FIRST(&watched->idle);

	while (row != NULL && now - row->used_at >= UM_WATCHED_KEEP_MS) {
		struct um_watched_row *next = TAILQ_NEXT(row, idle);

		forget(watched, row);
		row = next;
	}
}

void
um_watched_free(struct um_watched *watched)
{
	for (size_t i = 0; i < watched->places_len; i++)
		for (struct um_watched_row *row = watched->places[i].first,
					   *next;
			row != NULL; row = next) {
			next = row->next;
			drop_kept(watched, row);
			free(row);
		}
	free(watched->places);
	um_watched_begin(watched);
}
