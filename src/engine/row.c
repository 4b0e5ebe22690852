/* See row.h. */
#include "engine/row.h"

#include "engine/spec.h"
#include "engine/spec_objective.h"
#include "engine/warnings.h"
#include "store/rows.h"

static void row_write_warning(struct json *out, const char *kind, const char *text)
{
	json_map(out);
	json_key_string(out, "kind", kind);
	json_key_string(out, "text", text);
	json_end(out);
}

static void row_write_warnings(const struct spec *spec, struct json *out)
{
	json_list(out);
	warnings_each(spec, row_write_warning, out);
	json_end(out);
}

static char *row_text(void (*write)(const struct spec *spec, struct json *out), const struct spec *spec)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	write(spec, &w);
	return buf_take(&text);
}

static void row_write_normal(const struct spec *spec, struct json *out)
{
	node_write_json(spec->normal, out);
}

static void row_write_parameters(const struct spec *spec, struct json *out)
{
	space_write_json(spec->space, out);
}

static void row_write_varying(const struct spec *spec, struct json *out)
{
	json_list(out);
	for (size_t i = 0; i < spec->space->dim_count; i++)
		json_put_string(out, spec->space->params[spec->space->dims[i]].name);
	json_end(out);
}

int64_t engine_planned(const struct spec *spec)
{
	return spec->search->open ? 0 : (int64_t)search_planned(spec->search, spec->space);
}

void engine_fill_row(const struct spec *spec, struct store_experiment *ret)
{
	*ret = (struct store_experiment){
		.name = spec->name,
		.description = spec->description,
		.spec = row_text(row_write_normal, spec),
		.parameters = row_text(row_write_parameters, spec),
		.varying = row_text(row_write_varying, spec),
		.objective = row_text(spec_objective_write, spec),
		.limits = spec->limit_count ? row_text(spec_objective_write_limits, spec) : NULL,
		.warnings = row_text(row_write_warnings, spec),
		.strategy = spec->search->strategy->name,
		.strategy_reason = spec->search->reason,
		.script = spec_program(spec),
		.seed = (int64_t)spec->search->seed,
		.planned = engine_planned(spec),
		.parallel = (int64_t)spec->search->parallel,
	};
}

void engine_free_row(struct store_experiment *row)
{
	const char *const owned[] = {row->spec,      row->parameters, row->varying,
				     row->objective, row->limits,     row->warnings};
	for (size_t i = 0; i < COUNT_OF(owned); i++)
		free((char *)owned[i]);
}
