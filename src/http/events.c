/* The ring of recent events: see events.h. */
#include "http/events.h"

#include "base/num.h"
#include "base/token.h"

#include <inttypes.h>

struct events {
	char boot[TOKEN_ID_CHARS]; /* tells this run of the daemon from others */
	struct slot {
		struct blob *blob;
		uint64_t begins; /* bytes of all events before it */
	} ring[EVENTS_MAX];
	uint64_t first, end; /* positions; end is the next to be given */
	uint64_t bytes; /* of all events ever */
};

static struct slot *events_slot(struct events *events, uint64_t position)
{
	return &events->ring[position % EVENTS_MAX];
}

struct events *events_new(void)
{
	struct events *events = mem_alloc(sizeof(*events));
	token_make_id(events->boot);
	events->boot[12] = 0;
	/* Position 1 is the first: id BOOT-0 is what a stream has seen that saw nothing. */
	events->first = events->end = 1;
	return events;
}

static void events_drop(struct events *events)
{
	struct slot *slot = events_slot(events, events->first++);
	blob_unref(slot->blob);
	slot->blob = NULL;
}

void events_free(struct events *events)
{
	if (!events)
		return;
	while (events->first < events->end)
		events_drop(events);
	free(events);
}

size_t events_bytes_after(const struct events *events, uint64_t from)
{
	if (from >= events->end)
		return 0;
	return (size_t)(events->bytes - events->ring[from % EVENTS_MAX].begins);
}

void events_add(struct events *events, const char *name, const char *data, size_t len)
{
	struct buf text = buf_make(len + 256);
	buf_addf(&text, "id: %s-%" PRIu64 "\nevent: %s\ndata: ", events->boot, events->end, name);
	buf_add(&text, data, len);
	buf_add_text(&text, "\n\n");
	while (events->first < events->end &&
	       (events->end - events->first >= EVENTS_MAX ||
		events_bytes_after(events, events->first) + text.len > EVENTS_BYTES_MAX))
		events_drop(events);
	struct slot *slot = events_slot(events, events->end++);
	slot->begins = events->bytes;
	events->bytes += text.len;
	slot->blob = blob_take(&text);
}

uint64_t events_end(const struct events *events)
{
	return events->end;
}

void events_format_id(const struct events *events, uint64_t from, struct buf *out)
{
	buf_addf(out, "id: %s-%" PRIu64 "\n", events->boot, from - 1);
}

bool events_resume(const struct events *events, const char *last, uint64_t *ret_from)
{
	size_t n = strlen(events->boot);
	uint64_t seen;
	if (strncmp(last, events->boot, n) != 0 || last[n] != '-' ||
	    num_parse_unsigned(last + n + 1, strlen(last + n + 1), INT64_MAX, &seen) < 0)
		return false;
	if (seen + 1 < events->first || seen + 1 > events->end)
		return false;
	*ret_from = seen + 1;
	return true;
}

int events_collect(const struct events *events, uint64_t from, struct blob **ret, int max)
{
	int count = 0;
	if (from < events->first)
		return -1;
	for (; count < max && from + (uint64_t)count < events->end; count++)
		ret[count] = events->ring[(from + (uint64_t)count) % EVENTS_MAX].blob;
	return count;
}
