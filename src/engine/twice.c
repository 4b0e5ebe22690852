/* See twice.h. */
#include "engine/twice.h"

#include "engine/engine.h"
#include "engine/experiment.h"

#include "base/node.h"
#include "base/num.h"
#include "search/search.h"

#include <math.h>

/* Tasks that are read at once. */
#define TWICE_STEP 1000

static char *twice_key(const char *parameters, double value)
{
	char text[NUM_REAL_CHARS];
	num_format_real(value, text);
	return mem_printf("%s %s", text, parameters);
}

/* A configuration that did not come from the search. */
struct twice_added {
	int64_t asked;
	char *parameters;
};

struct twice_reading {
	struct twice *twice;
	int64_t last;
	size_t count;
	VEC(int64_t) asked; /* of the tasks that are there */
	VEC(struct twice_added) added; /* by number */
};

static int twice_task_cb(void *ctx, const struct store_task *row)
{
	struct twice_reading *reading = ctx;
	reading->last = row->number;
	reading->count++;
	vec_push(&reading->asked, row->asked);
	if (!isnan(row->best))
		vec_push(&reading->twice->results, ((struct twice_result){twice_key(row->parameters, row->best), 0}));
	return 0;
}

static int compare_asked(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int compare_results(const void *a, const void *b)
{
	const struct twice_result *x = a, *y = b;
	int order = strcmp(x->key, y->key);
	return order ? order : compare_asked(&x->asked, &y->asked);
}

static bool twice_has_task(const struct twice_reading *reading, int64_t asked)
{
	return reading->asked.len &&
		bsearch(&asked, reading->asked.at, reading->asked.len, sizeof(asked), compare_asked);
}

/* What earlier experiments taught the search has no task either, and says `from`. */
static void twice_add(struct twice_reading *reading, const struct store_event *event)
{
	struct node *record = NULL;
	if (!event->value || node_parse_json(event->value, strlen(event->value), &record, NULL) < 0)
		return;
	const struct node *parameters = node_get(record, "parameters");
	if (parameters && !node_get(record, "from")) {
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&text);
		node_write_json(parameters, &w);
		vec_push(&reading->added, ((struct twice_added){event->asked, buf_take(&text)}));
	}
	node_free(record);
}

static void twice_tell(struct twice_reading *reading, const struct store_event *event)
{
	struct node *values = NULL;
	const struct twice_added *added = reading->added.len
		? bsearch(&event->asked, reading->added.at, reading->added.len, sizeof(*reading->added.at),
			  compare_asked)
		: NULL;
	if (!added || event->outcome != SEARCH_FINISHED || !event->value ||
	    node_parse_json(event->value, strlen(event->value), &values, NULL) < 0)
		return;
	if (values->count && node_is_number(values->items[0]))
		vec_push(&reading->twice->results,
			 ((struct twice_result){twice_key(added->parameters, values->items[0]->real), event->asked}));
	node_free(values);
}

static int twice_event_cb(void *ctx, const struct store_event *event)
{
	struct twice_reading *reading = ctx;
	if (event->kind == STORE_EVENT_ADD && !twice_has_task(reading, event->asked))
		twice_add(reading, event);
	else if (event->kind == STORE_EVENT_TELL)
		twice_tell(reading, event);
	return 0;
}

int twice_read(struct twice *twice, struct engine *engine, const struct engine_experiment *experiment)
{
	struct twice_reading reading = {.twice = twice};
	int rc;
	do {
		reading.count = 0;
		rc = store_each_task(engine_store(engine), experiment->id, reading.last + 1, TWICE_STEP, twice_task_cb,
				     &reading);
	} while (rc == 0 && reading.count == TWICE_STEP);
	if (reading.asked.len)
		qsort(reading.asked.at, reading.asked.len, sizeof(*reading.asked.at), compare_asked);
	if (rc == 0)
		rc = store_each_event(engine_store(engine), experiment->id, twice_event_cb, &reading);
	if (twice->results.len)
		qsort(twice->results.at, twice->results.len, sizeof(*twice->results.at), compare_results);
	for (size_t i = 0; i < reading.added.len; i++)
		free(reading.added.at[i].parameters);
	free(reading.added.at);
	free(reading.asked.at);
	return rc < 0 ? rc : 0;
}

bool twice_take(struct twice *twice, const char *parameters, double value, int64_t *ret_asked)
{
	char *key = twice_key(parameters, value);
	size_t low = 0, high = twice->results.len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(twice->results.at[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* Numbers that were given are -1 and come first. */
	while (low < twice->results.len && twice->results.at[low].asked < 0)
		low++;
	bool found = low < twice->results.len && strcmp(twice->results.at[low].key, key) == 0;
	if (found) {
		*ret_asked = twice->results.at[low].asked;
		twice->results.at[low].asked = *ret_asked ? -1 : 0;
	}
	free(key);
	return found;
}

void twice_free(struct twice *twice)
{
	for (size_t i = 0; i < twice->results.len; i++)
		free(twice->results.at[i].key);
	free(twice->results.at);
}
