/* See steps.h. Tasks of one experiment may count different things: one wrote a row an epoch, another two. So each task
 * has a name of its own. */
#include "engine/steps.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"

#include <math.h>

static int steps_set(char **at, const char *name)
{
	if (*at && strcmp(*at, name) == 0)
		return 0;
	free(*at);
	*at = mem_strdup(name);
	return 1;
}

/* What the experiment counts. A row before the first one of the objective tells only where nothing is known. Where one
 * task counts rows, "epoch" would be wrong for the experiment: it stays "row". */
static int steps_name_experiment(struct engine *engine, struct engine_experiment *e, const char *name, bool objective)
{
	bool rows = (!e->step_name || strcmp(e->step_name, "row") == 0) && strcmp(name, "row") != 0;
	int rc = 0;
	if (e->step_name && !objective)
		return 0;
	if (rows && objective)
		rc = store_counts_rows(engine_store(engine), e->id, e->spec->objectives[0].metric, &rows);
	if (rc == 0 && !rows && steps_set(&e->step_name, name))
		rc = store_set_step_name(engine_store(engine), e->id, name);
	return rc;
}

int engine_name_steps(struct engine *engine, struct engine_live *live, const struct journal_record *row)
{
	struct engine_experiment *e = live->experiment;
	bool objective = false;
	int rc = 0;
	for (size_t i = 0; i < row->metric_count && e->spec->objective_count && !objective; i++)
		objective = strcmp(row->metrics[i].name, e->spec->objectives[0].metric) == 0;
	bool known = live->step_name || !isnan(live->task.last);
	if (!row->step_name || (!objective && known && e->spec->objective_count))
		return 0;
	bool changed = steps_set(&live->step_name, row->step_name);
	if (changed)
		rc = store_set_task_step_name(engine_store(engine), live->task.id, row->step_name);
	if (rc == 0 && (changed || strcmp(row->step_name, "row") == 0))
		rc = steps_name_experiment(engine, e, row->step_name, objective);
	return rc;
}
