/* SPDX-License-Identifier: MIT */
#include "api/watched.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_MIN 64

/* Ids are random, or chosen by servers that have a key. */
static size_t
place_of(size_t places_len, const uint8_t id[static UM_UUID_LEN])
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < UM_UUID_LEN; i++)
		sum = (sum ^ id[i]) * UINT64_C(0x100000001b3);
	return (size_t)(sum ^ sum >> 32) & (places_len - 1);
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
				&places[place_of(len, row->id)].first;

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
	place = &watched->places[place_of(watched->places_len, element->id)]
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
	return row;
}

bool
um_watched_join(struct um_watched *watched, struct um_watched_element *element,
	int64_t now)
{
	struct um_watched_row *row = find_or_add(watched, element);

	if (row == NULL)
		return false;
	element->row = row;
	LIST_INSERT_HEAD(&row->elements, element, link);
	element->is_due = !row->is_read || row->due_at <= now
		|| !element->has_seen
		|| memcmp(row->shown, element->seen, sizeof(row->shown)) != 0;
	return true;
}

void
um_watched_leave(struct um_watched_element *element, int64_t now)
{
	if (element->row == NULL)
		return;
	LIST_REMOVE(element, link);
	element->row->used_at = now;
	element->row = NULL;
}

static void
announce(struct um_watched_row *row, void (*wake)(void *call, void *arg),
	void *arg)
{
	struct um_watched_element *element;

	row->is_read = false;
	row->announced++;
	LIST_FOREACH(element, &row->elements, link)
	{
		element->is_due = true;
		wake(element->call, arg);
	}
}

void
um_watched_announced(struct um_watched *watched,
	const uint8_t id[static UM_UUID_LEN],
	void (*wake)(void *call, void *arg), void *arg)
{
	if (watched->len == 0)
		return;
	for (struct um_watched_row *row =
			watched->places[place_of(watched->places_len, id)]
				.first;
		row != NULL; row = row->next)
		if (memcmp(row->id, id, UM_UUID_LEN) == 0)
			announce(row, wake, arg);
}

void
um_watched_all_announced(struct um_watched *watched,
	void (*wake)(void *call, void *arg), void *arg)
{
	for (size_t i = 0; i < watched->places_len; i++)
		for (struct um_watched_row *row = watched->places[i].first;
			row != NULL; row = row->next)
			announce(row, wake, arg);
}

void
um_watched_begin_read(struct um_watched_element *element)
{
	element->is_due = false;
	element->read_at_announced = element->row->announced;
}

void
um_watched_end_read(struct um_watched_element *element,
	const uint8_t shown[static UM_SEEN_BYTES], int64_t due_at,
	bool listening)
{
	struct um_watched_row *row = element->row;

	memcpy(row->shown, shown, sizeof(row->shown));
	row->due_at = due_at;
	row->is_read = listening
		&& row->announced == element->read_at_announced;
}

void
um_watched_forget(struct um_watched *watched, int64_t now)
{
	for (size_t i = 0; i < watched->places_len; i++) {
		struct um_watched_row **place = &watched->places[i].first;

		while (*place != NULL) {
			struct um_watched_row *row = *place;

			if (!LIST_EMPTY(&row->elements)
				|| now - row->used_at < UM_WATCHED_KEEP_MS) {
				place = &row->next;
				continue;
			}
			*place = row->next;
			watched->len--;
			free(row);
		}
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
			free(row);
		}
	free(watched->places);
	*watched = (struct um_watched){ .len = 0 };
}
