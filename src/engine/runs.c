/* See runs.h. */
#include "engine/runs.h"

#include "engine/engine.h"
#include "engine/spec.h"

#include "store/rows.h"
#include "space/space.h"

#include <inttypes.h>

struct runs_read {
	struct runs *runs;
	VEC(struct runs_row {
		struct node *parameters;
		double wall_ms, energy_j;
	}) rows;
};

static size_t runs_name(struct runs *runs, const char *name)
{
	for (size_t i = 0; i < runs->names.len; i++)
		if (!strcmp(runs->names.at[i], name))
			return i;
	vec_push(&runs->names, mem_strdup(name));
	return runs->names.len - 1;
}

static int runs_row_cb(void *ctx, const struct store_run *row)
{
	struct runs_read *read = ctx;
	struct runs_row made = {.wall_ms = row->wall_ms, .energy_j = row->energy_j};
	if (node_parse_json(row->parameters, strlen(row->parameters), &made.parameters, NULL) < 0)
		return 0;
	for (size_t i = 0; i < made.parameters->count; i++)
		runs_name(read->runs, made.parameters->items[i]->key);
	vec_push(&read->rows, made);
	return 0;
}

struct forecast_value runs_value(const struct node *value)
{
	if (!value || value->type == NODE_NULL)
		return (struct forecast_value){0};
	if (node_is_number(value))
		return (struct forecast_value){.kind = FORECAST_NUMBER, .number = value->real};
	if (value->type == NODE_BOOL)
		return (struct forecast_value){.kind = FORECAST_LABEL, .label = value->boolean ? "true" : "false"};
	return (struct forecast_value){.kind = FORECAST_LABEL, .label = value->string ? value->string : ""};
}

static struct forecast_value runs_space_value(const struct space_value *value)
{
	switch (value->kind) {
	case SPACE_VALUE_NONE: break;
	case SPACE_VALUE_BOOL:
		return (struct forecast_value){.kind = FORECAST_LABEL, .label = value->boolean ? "true" : "false"};
	case SPACE_VALUE_TEXT: return (struct forecast_value){.kind = FORECAST_LABEL, .label = value->text};
	case SPACE_VALUE_INT:
	case SPACE_VALUE_REAL: return (struct forecast_value){.kind = FORECAST_NUMBER, .number = value->real};
	}
	return (struct forecast_value){0};
}

/* Gives the rows to the models. */
static void runs_learn(struct runs_read *read)
{
	struct runs *runs = read->runs;
	struct forecast_value *values = mem_array(runs->names.len, sizeof(*values));
	runs->time = forecast_new(runs->names.len);
	runs->energy = forecast_new(runs->names.len);
	for (size_t i = 0; i < read->rows.len; i++) {
		const struct runs_row *row = &read->rows.at[i];
		for (size_t j = 0; j < runs->names.len; j++)
			values[j] = runs_value(node_get(row->parameters, runs->names.at[j]));
		forecast_add(runs->time, values, row->wall_ms);
		forecast_add(runs->energy, values, row->energy_j);
	}
	forecast_fit(runs->time);
	forecast_fit(runs->energy);
	free(values);
}

int runs_read(struct engine *engine, const struct spec *spec, struct runs *ret)
{
	struct runs_read read = {.runs = ret};
	struct buf command = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&command);
	const struct node *given = node_get(spec->normal, "command");
	*ret = (struct runs){0};
	if (given)
		node_write_json(given, &w);
	for (size_t i = 0; i < spec->space->count; i++)
		runs_name(ret, spec->space->params[i].name);
	int rc = store_each_run(engine_store(engine), spec_program(spec), given ? buf_text(&command) : NULL,
				FORECAST_RUNS_MOST, runs_row_cb, &read);
	if (rc == 0 && read.rows.len)
		runs_learn(&read);
	for (size_t i = 0; i < read.rows.len; i++)
		node_free(read.rows.at[i].parameters);
	free(read.rows.at);
	buf_free(&command);
	return rc;
}

void runs_free(struct runs *runs)
{
	for (size_t i = 0; i < runs->names.len; i++)
		free(runs->names.at[i]);
	free(runs->names.at);
	forecast_free(runs->time);
	forecast_free(runs->energy);
}

enum forecast_answer runs_at(const struct runs *runs, const struct forecast *forecast, const struct space *space,
			     const struct space_value *values, struct forecast_range *ret)
{
	struct forecast_value *made = mem_array(runs->names.len, sizeof(*made));
	for (size_t i = 0; i < space->count; i++)
		made[i] = runs_space_value(&values[i]);
	enum forecast_answer answer = forecast_at(forecast, made, ret);
	/* A parameter that is left out now has the script's own value. With few runs only its median is said anyway. */
	if (answer == FORECAST_FAR && made[ret->far].kind == FORECAST_NONE &&
	    forecast_runs(forecast) < FORECAST_RUNS_LEAST)
		answer = FORECAST_FEW;
	free(made);
	return answer;
}
