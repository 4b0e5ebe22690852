/* Shows whether short runs predict long ones: compares the rankings of the same configurations at two fidelities. It
 * only uses the recorded asks and tells, so it does not matter whether a task was continued or started again. */

#include "engine/analysis.h"
#include "engine/engine.h"
#include "store/rows.h"
#include "base/num.h"
#include "search/correlation.h"

#include <math.h>
#include <stdio.h>

/* One ask of a configuration at a fidelity, and what it gave. */
struct look {
	int64_t asked;
	char *configuration; /* without the fidelity, as text */
	double fidelity, value;
};

struct looks {
	const char *parameter; /* of the fidelity */
	VEC(struct look) list;
};

static int look_add(struct looks *looks, int64_t asked, const struct node *record)
{
	const struct node *parameters = node_get(record, "parameters");
	double fidelity = node_get_real(record, "fidelity", NAN);
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	if (isnan(fidelity) || !parameters)
		return 0;
	json_map(&w);
	for (size_t i = 0; i < parameters->count; i++) {
		if (strcmp(parameters->items[i]->key, looks->parameter) == 0)
			continue;
		json_key(&w, parameters->items[i]->key);
		node_write_json(parameters->items[i], &w);
	}
	json_end(&w);
	vec_push(&looks->list, ((struct look){asked, mem_strdup(buf_text(&text)), fidelity, NAN}));
	buf_free(&text);
	return 0;
}

/* The asks ascend, and a result belongs to a late ask. */
static void look_tell(struct looks *looks, int64_t asked, const struct node *values)
{
	for (size_t i = looks->list.len; i-- > 0;) {
		struct look *look = &looks->list.at[i];
		if (look->asked > asked)
			continue;
		if (look->asked == asked && values && values->count && node_is_number(values->items[0]))
			look->value = values->items[0]->real;
		return;
	}
}

static int look_event_cb(void *ctx, const struct store_event *event)
{
	struct looks *looks = ctx;
	struct node *record = NULL;
	if (event->kind == STORE_EVENT_CHANGE || event->kind == STORE_EVENT_CORRECT || !event->value)
		return 0;
	int rc = node_parse_json(event->value, strlen(event->value), &record, NULL);
	if (rc == 0 && event->kind != STORE_EVENT_TELL)
		rc = look_add(looks, event->asked, record);
	else if (rc == 0 && event->outcome == SEARCH_FINISHED)
		look_tell(looks, event->asked, record);
	node_free(record);
	return rc;
}

static int compare_looks(const void *a, const void *b)
{
	const struct look *x = a, *y = b;
	int order = strcmp(x->configuration, y->configuration);
	if (order)
		return order;
	return x->fidelity < y->fidelity ? -1 : x->fidelity > y->fidelity;
}

/* The fidelities that occur, ascending. */
static size_t look_levels(const struct looks *looks, double *levels)
{
	size_t count = 0;
	for (size_t i = 0; i < looks->list.len; i++)
		if (!isnan(looks->list.at[i].value))
			levels[count++] = looks->list.at[i].fidelity;
	qsort(levels, count, sizeof(*levels), num_compare_reals);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!kept || levels[kept - 1] != levels[i])
			levels[kept++] = levels[i];
	return kept;
}

/* Of the sorted looks, the pairs of one configuration at the two levels. */
static size_t look_pairs(const struct looks *looks, double low, double high, double *a, double *b)
{
	size_t count = 0;
	const struct look *first = NULL;
	for (size_t i = 0; i < looks->list.len; i++) {
		const struct look *look = &looks->list.at[i];
		if (isnan(look->value))
			continue;
		if (look->fidelity == low) {
			first = look;
		} else if (look->fidelity == high && first && strcmp(first->configuration, look->configuration) == 0) {
			a[count] = first->value;
			b[count++] = look->value;
			first = NULL;
		}
	}
	return count;
}

static void look_write(const struct looks *looks, struct json *out)
{
	size_t n = looks->list.len;
	double *levels = mem_resize(NULL, 3 * n + 1, sizeof(*levels)), *a = levels + n, *b = a + n;
	size_t count = look_levels(looks, levels);
	for (size_t i = 0; i + 1 < count; i++) {
		size_t pairs = look_pairs(looks, levels[i], levels[i + 1], a, b);
		double correlation = correlation_of_ranks(a, b, pairs);
		json_map(out);
		json_key_real(out, "from", levels[i]);
		json_key_real(out, "to", levels[i + 1]);
		json_key_int(out, "tasks", (int64_t)pairs);
		json_key(out, "correlation");
		if (isnan(correlation))
			json_put_null(out);
		else
			json_put_real(out, correlation);
		json_end(out);
	}
	free(levels);
}

int analysis_write_agreement(struct engine *engine, int64_t experiment, const struct spec *spec, struct json *out)
{
	struct looks looks = {0};
	long parameter = spec->search->fidelity_param;
	int rc = 0;
	json_key(out, "agreement");
	json_list(out);
	if (parameter >= 0) {
		looks.parameter = spec->space->params[parameter].name;
		rc = store_each_event(engine_store(engine), experiment, look_event_cb, &looks);
		if (looks.list.len)
			qsort(looks.list.at, looks.list.len, sizeof(*looks.list.at), compare_looks);
		if (rc == 0)
			look_write(&looks, out);
	}
	json_end(out);
	for (size_t i = 0; i < looks.list.len; i++)
		free(looks.list.at[i].configuration);
	free(looks.list.at);
	return rc;
}
