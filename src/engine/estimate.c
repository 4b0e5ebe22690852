/* How long an experiment may take: what the store knows of tasks of the same script, and how many fit at a time. An
 * estimate names its basis. If nothing is known, there is no estimate. */
#include "engine/estimate.h"

#include "engine/backends.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "base/text.h"
#include "store/json.h"

#include <inttypes.h>

#define ESTIMATE_CHARS 32

/* How many run at a time, and the words for it. 0: not known. */
static int64_t estimate_at_once(const struct engine_backend *backend, const struct spec *spec, int64_t tasks,
				const char **ret_words)
{
	const struct backend_resources *resources = &spec->resources;
	int64_t most = backend->ops->slots ? backend->ops->slots(backend->backend, resources) : 0;
	int64_t parallel = (int64_t)spec->search->parallel;
	most = most < tasks ? most : tasks;
	most = parallel && parallel < most ? parallel : most;
	int64_t now = most > 0 ? backend->ops->room(backend->backend, resources) : 0;
	*ret_words = now >= most ? "" : now ? ", beside what runs now" : " once there is room";
	return now > 0 && now < most ? now : most;
}

static void estimate_write(const struct store_pace *pace, const struct engine_backend *backend, const struct spec *spec,
			   int64_t tasks, struct json *out)
{
	const char *words;
	char each[ESTIMATE_CHARS], sum[ESTIMATE_CHARS];
	int64_t at_once = estimate_at_once(backend, spec, tasks, &words);
	int64_t sum_ms = tasks * pace->median_ms;
	bool elsewhere = strcmp(pace->backend, backend->ops->name) != 0;
	text_format_duration(pace->median_ms, each, sizeof(each));
	text_format_duration(sum_ms, sum, sizeof(sum));
	char *what = mem_printf("%" PRId64 " task%s of about %s as in e%" PRId64 "%s%s", tasks, tasks == 1 ? "" : "s",
				each, pace->experiment, elsewhere ? " on " : "", elsewhere ? pace->backend : "");
	char *basis = at_once ? mem_printf("%s, %" PRId64 " at a time%s", what, at_once, words)
			      : mem_printf("%s of task time: %s; when they run is not known", sum, what);
	json_map(out);
	json_key(out, "wall_s");
	if (at_once)
		json_real(out, (double)((tasks + at_once - 1) / at_once * pace->median_ms) / 1000);
	else
		json_null(out);
	json_key_real(out, "task_s", (double)pace->median_ms / 1000);
	json_key_real(out, "tasks_s", (double)sum_ms / 1000);
	json_key_string(out, "basis", basis);
	json_end(out);
	free(what);
	free(basis);
}

void engine_write_estimate(struct engine *engine, const struct engine_backend *backend, const struct spec *spec,
			   struct json *out)
{
	struct store_pace pace;
	struct buf command = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&command);
	const struct node *given = node_get(spec->normal, "command");
	int64_t tasks = (int64_t)search_planned(spec->search, spec->space);
	if (given)
		node_write_json(given, &w);
	if (tasks > 0 &&
	    store_read_pace(engine->store, spec_program(spec), given ? buf_text(&command) : NULL, &pace) == 0)
		estimate_write(&pace, backend, spec, tasks, out);
	else
		json_null(out);
	buf_free(&command);
}
