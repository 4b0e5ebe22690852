/* See same.h. */
#include "engine/same.h"

#include "engine/experiment.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "store/rows.h"

#include <inttypes.h>

/* Fewer may be a coincidence. */
#define SAME_LEAST 3

int engine_warn_same(struct engine *engine, struct engine_live *live)
{
	struct engine_experiment *e = live->experiment;
	int64_t tasks = 0, configurations = 0;
	if (e->differs || e->counts[STORE_FINISHED] < SAME_LEAST)
		return 0;
	int rc = store_count_same(engine->store, e->id, SAME_LEAST, &tasks, &configurations);
	if (rc < 0)
		return rc;
	e->differs = !tasks;
	const char *metric = e->spec->objective_count ? e->spec->objectives[0].metric : "objective";
	char *text = configurations < SAME_LEAST
		? NULL
		: mem_printf(
			  "all %" PRId64
			  " tasks gave exactly the same %s although their parameters differ: does the script use them?",
			  tasks, metric);
	if (text || e->differs)
		rc = store_set_warning(engine->store, e->id, STORE_WARNS_SAME, text);
	e->changed |= text || e->differs;
	free(text);
	return rc;
}
