/* `sluice energy [ID]`: what tasks have cost in energy, in joules, CO2 and money. */
#include "cli/verbs.h"
#include "cli/view.h"

#include <math.h>
#include <inttypes.h>
#include <stdio.h>

static const struct verb_option energy_options[] = {
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

static void energy_add_number(struct term_table *table, const struct node *row, const char *key, const char *format,
			      bool known)
{
	const struct node *value = node_get(row, key);
	if (node_is_number(value))
		term_table_addf(table, TERM_PLAIN, format, value->real);
	else
		term_table_add(table, TERM_DIM, known ? "not measured" : "not set");
}

static void energy_add_row(struct term_table *table, const char *what, const struct node *row,
			   const struct node *answer)
{
	char joules[VIEW_CHARS], time[VIEW_CHARS];
	term_table_add(table, TERM_PLAIN, what);
	term_table_addf(table, TERM_PLAIN, "%" PRId64 " of %" PRId64, node_get_int(row, "measured", 0),
			node_get_int(row, "tasks", 0));
	view_seconds(node_get(row, "wall_s"), "", time);
	term_table_add(table, TERM_PLAIN, time);
	view_seconds(node_get(row, "gpu_s"), "", time);
	term_table_add(table, TERM_PLAIN, time);
	view_figure(node_get(row, "energy_j"), "J", "not measured", joules);
	term_table_add(table, TERM_PLAIN, joules);
	energy_add_number(table, row, "energy_kwh", "%.4g", true);
	energy_add_number(table, row, "co2_g", "%.4g", node_get_bool(answer, "co2_known", false));
	energy_add_number(table, row, "price", "%.4g", node_get_bool(answer, "price_known", false));
}

/* What the failed tasks of a row have cost, where there are some. */
static void energy_add_failed(struct term_table *table, const char *of, const struct node *row,
			      const struct node *answer)
{
	const struct node *failed = node_get(row, "failed");
	char what[200];
	snprintf(what, sizeof(what), "%.150s%sfailed tasks", of, *of ? ", " : "  its ");
	if (node_get_int(failed, "tasks", 0) > 0)
		energy_add_row(table, what, failed, answer);
}

/* only_failed: of each row only what its failed tasks have cost. */
static void energy_add_rows(struct term_table *table, const struct node *answer, const char *list, const char *key,
			    const char *prefix, bool only_failed)
{
	const struct node *rows = node_get(answer, list);
	for (size_t i = 0; rows && rows->type == NODE_LIST && i < rows->count; i++) {
		const char *name = node_get_string(rows->items[i], key);
		char what[200];
		snprintf(what, sizeof(what), "%s%.150s", prefix, name ? name : "");
		if (!only_failed)
			energy_add_row(table, what, rows->items[i], answer);
		energy_add_failed(table, only_failed ? what : "", rows->items[i], answer);
	}
}

static void energy_show(const struct node *answer, bool all, const struct term *term, struct buf *out)
{
	const char *currency = node_get_string(answer, "currency");
	const struct term_column columns[] = {
		{"TASKS", false, false}, {"MEASURED", true, false},
		{"TIME", true, false},   {"GPU TIME", true, false},
		{"ENERGY", true, false}, {"KWH", true, false},
		{"G CO2", true, false},  {currency && *currency ? currency : "PRICE", true, false},
	};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	energy_add_row(&table, "all", node_get(answer, "total"), answer);
	energy_add_rows(&table, answer, "by_state", "state", "", false);
	energy_add_rows(&table, answer, "repeated", "state", "run again after: ", false);
	if (all) {
		energy_add_rows(&table, answer, "by_strategy", "strategy", "strategy ", false);
		energy_add_rows(&table, answer, "by_experiment", "experiment", "", true);
	}
	energy_add_rows(&table, answer, "by_source", "source", "from ", false);
	term_table_write(&table, term, out);
	term_table_free(&table);
	if (!node_get_bool(answer, "co2_known", false) || !node_get_bool(answer, "price_known", false))
		buf_add_text(out,
			     "\nCO2 and money: write `energy: {intensity: 380, price: 0.30, currency: EUR}` to "
			     "settings.yaml in the state folder\n");
}

static int energy_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target = {0};
	struct node *answer = NULL;
	struct buf json = buf_make(BUF_UNLIMITED), out = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_energy, argc, argv, 0, 1);
	if (status)
		return status;
	bool one = call.options.args.len > 0;
	if (one && target_parse(call.options.args.at[0], &target, &err) < 0)
		return call_end(&call, call_usage(&verb_energy, &err));
	status = call_connect(&call);
	if (!status) {
		char *path = one ? mem_printf("/experiments/%s/energy", target.experiment) : mem_strdup("/energy");
		int rc = client_get(&call.client, path, &json, &answer, &err);
		if (rc == 0 && options_has(&call.options, "json"))
			puts(buf_text(&json));
		else if (rc == 0)
			energy_show(answer, !one, &call.term, &out);
		fwrite(buf_text(&out), 1, out.len, stdout);
		status = rc < 0 ? call_fail(&err) : 0;
		free(path);
	}
	node_free(answer);
	buf_free(&json);
	buf_free(&out);
	return call_end(&call, status);
}

const struct verb verb_energy = {
	.name = "energy",
	.arguments = "[ID] [options]",
	.summary = "what tasks have cost in time, energy, CO2 and money",
	.help = "  sluice energy             everything, by state of the tasks and by search strategy, with what the failed\n"
		"                            tasks of each strategy and experiment cost\n"
		"  sluice energy e12         one experiment: also what its failed and pruned tasks cost\n"
		"\n"
		"\"run again after: error\" is what attempts cost whose task was run again; it is part of the other rows.\n"
		"\n"
		"CO2 and money come from settings.yaml in the state folder:\n"
		"  energy: {intensity: 380, price: 0.30, currency: EUR}     g CO2 and money for a kWh\n"
		"Both may be lists of 24 numbers, one for each hour of the day.",
	.options = energy_options,
	.run = energy_run,
};
