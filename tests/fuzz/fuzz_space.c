/* Parameters, constraints, search and fidelity of an experiment file: any document gives a space or
 * problems, and what a space proposes lies in it, survives JSON and is told apart from nothing else. */
#include "search/search.h"

#include <math.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_values(const struct space *space, const struct space_value *values)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct space_value *again = mem_array(space->count, sizeof(*again));
	struct problems problems = {0};
	struct node *map;
	space_write_values(space, values, &w);
	must(node_parse_json(buf_text(&text), text.len, &map, NULL) == 0);
	must(space_read_values(space, map, again, &problems) == 0);
	must(space_equal(space, values, again));
	node_free(map);
	free(again);
	buf_free(&text);
}

static void propose(const struct search_spec *spec, const struct space *space)
{
	struct search *search;
	struct error err;
	struct space_value *values = mem_array(space->count, sizeof(*values));
	if (search_open(spec, space, &search, &err) == 0) {
		for (int64_t id = 1; id <= 24; id++) {
			struct search_proposal p = {.values = values, .fidelity = NAN, .continues = -1};
			double told[8] = {(double)(id * 7 % 5)};
			if (search_ask(search, id, &p) != SEARCH_PROPOSED)
				break;
			must(p.continues >= 0 || space_allows(space, values));
			if (isnan(p.fidelity))
				check_values(space, values);
			if (id % 3)
				search_tell(search, id, SEARCH_FINISHED, told);
		}
		search_free(search);
	}
	free(values);
}

static void try_document(const struct node *document)
{
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	if (space_parse(node_get(document, "parameters"), node_get(document, "constraints"), &problems, &space) == 0) {
		must(problems.list.len == 0);
		struct buf text = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&text);
		space_write_json(space, &w);
		buf_free(&text);
		if (search_spec_parse(node_get(document, "search"), node_get(document, "fidelity"), space, 1, 1,
				      &problems, &spec) == 0)
			propose(spec, space);
		else
			must(problems.list.len > 0);
	} else {
		must(problems.list.len > 0);
	}
	search_spec_free(spec);
	space_free(space);
	problems_free(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct node *document;
	struct error err;
	if (size > 4096 || node_parse_yaml((const char *)data, size, &document, &err) < 0)
		return 0;
	try_document(document);
	node_free(document);
	return 0;
}
