/* See seed.h. */
#include "engine/seed.h"

#include "engine/engine.h"
#include "engine/spec.h"

#include "store/rows.h"
#include <inttypes.h>

static bool seed_is_given(const struct node *document)
{
	return node_get(node_get(document, "search"), "seed");
}

int seed_choose(struct engine *engine, const struct node *document, struct spec *spec)
{
	struct search_spec *search = spec->search;
	int64_t experiment = 0, last = 0;
	if (seed_is_given(document) || search->strategy->capabilities & SEARCH_FINITE_ONLY)
		return 0;
	struct buf parameters = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&parameters);
	space_write_json(spec->space, &out);
	int rc = store_read_last_seed(engine_store(engine), spec_program(spec), search->strategy->name,
				      buf_text(&parameters), &experiment, &last);
	buf_free(&parameters);
	if (rc < 0 || !experiment || last == INT64_MAX)
		return rc;
	search->seed = (uint64_t)last + 1;
	char *reason = mem_printf("%s%sseed %" PRIu64 ", because e%" PRId64 " has searched the same with seed %" PRId64,
				  search->reason ? search->reason : "", search->reason ? "; " : "", search->seed,
				  experiment, last);
	free(search->reason);
	search->reason = reason;
	return 0;
}

void seed_restore(const struct node *document, int64_t seed, struct spec *spec)
{
	if (!seed_is_given(document))
		spec->search->seed = (uint64_t)seed;
}
