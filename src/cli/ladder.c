/* The rungs and brackets of a search of several fidelities, below `sluice show`: GET …/search. */
#include "cli/ladder.h"

#include <inttypes.h>

static void ladder_finish(struct term_table *table, const struct term *term, struct buf *out)
{
	buf_add_char(out, '\n');
	term_table_write(table, term, out);
	term_table_free(table);
}

static void ladder_add_int(struct term_table *table, const struct node *row, const char *key)
{
	term_table_addf(table, TERM_PLAIN, "%" PRId64, node_get_int(row, key, 0));
}

/* While it works the strategy counts its rungs itself; afterwards the tasks say where they stood. */
static void ladder_write_rungs(const struct node *search, const struct term *term, struct buf *out)
{
	const struct node *own = node_get(node_get(search, "state"), "rungs");
	const struct node *rungs = own ? own : node_get(search, "fidelities");
	const struct term_column columns[] = {{own ? "LENGTH" : "RAN TO", true, false},
					      {own ? "RESULTS" : "TASKS", true, false},
					      {own ? "WENT ON" : "FINISHED", true, false}};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	for (size_t i = 0; i < rungs->count; i++) {
		term_table_addf(&table, TERM_PLAIN, "%g", node_get_real(rungs->items[i], "fidelity", 0));
		ladder_add_int(&table, rungs->items[i], own ? "told" : "tasks");
		ladder_add_int(&table, rungs->items[i], own ? "promoted" : "finished");
	}
	ladder_finish(&table, term, out);
}

static void ladder_write_brackets(const struct node *brackets, const struct term *term, struct buf *out)
{
	static const struct term_column columns[] = {
		{"BRACKET", true, false}, {"BEGAN WITH", true, false}, {"RUNG", true, false},
		{"LENGTH", true, false},  {"RESULTS", true, false},    {"STATE", false, false},
	};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	for (size_t i = 0; i < brackets->count; i++) {
		const struct node *row = brackets->items[i];
		bool over = node_get_bool(row, "over", false);
		term_table_addf(&table, TERM_PLAIN, "%zu", i + 1);
		ladder_add_int(&table, row, "start");
		term_table_addf(&table, TERM_PLAIN, "%" PRId64 " of %" PRId64, node_get_int(row, "rung", 0),
				node_get_int(row, "rungs", 0));
		term_table_addf(&table, TERM_PLAIN, "%g", node_get_real(row, "fidelity", 0));
		if (over)
			term_table_add(&table, TERM_PLAIN, "all");
		else
			term_table_addf(&table, TERM_PLAIN, "%" PRId64 " of %" PRId64, node_get_int(row, "told", 0),
					node_get_int(row, "size", 0));
		term_table_add(&table, TERM_PLAIN, over ? "over" : "going on");
	}
	ladder_finish(&table, term, out);
}

void ladder_write(const struct node *search, const struct term *term, struct buf *out)
{
	const struct node *fidelities = node_get(search, "fidelities");
	const struct node *brackets = node_get(node_get(search, "state"), "brackets");
	if (!fidelities || fidelities->type != NODE_LIST || !fidelities->count)
		return;
	ladder_write_rungs(search, term, out);
	if (brackets && brackets->type == NODE_LIST && brackets->count)
		ladder_write_brackets(brackets, term, out);
}
