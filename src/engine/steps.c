/* See steps.h. Tasks of one experiment may count different things: one wrote a row an epoch, another two. So each task
 * has a name of its own. */
#include "engine/steps.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"

static int steps_set(char **at, const char *name)
{
	if (*at && strcmp(*at, name) == 0)
		return 0;
	free(*at);
	*at = mem_strdup(name);
	return 1;
}

int engine_name_steps(struct engine *engine, struct engine_live *live, const struct journal_record *row)
{
	struct engine_experiment *e = live->experiment;
	bool has = !e->spec->objective_count || !live->step_name;
	int rc = 0;
	for (size_t i = 0; i < row->metric_count && !has; i++)
		has = strcmp(row->metrics[i].name, e->spec->objectives[0].metric) == 0;
	if (!has || !row->step_name)
		return 0;
	if (steps_set(&live->step_name, row->step_name))
		rc = store_set_task_step_name(engine_store(engine), live->task.id, row->step_name);
	/* Where one task counts rows, "epoch" would be wrong for the experiment: it stays "row". */
	bool rows = e->step_name && strcmp(e->step_name, "row") == 0;
	if (rc == 0 && !rows && steps_set(&e->step_name, row->step_name))
		rc = store_set_step_name(engine_store(engine), e->id, row->step_name);
	return rc;
}
