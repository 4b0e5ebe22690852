/* See stalled.h. */
#include "engine/stalled.h"

#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/slow.h"
#include "engine/state.h"

#include "base/log.h"
#include "notify/notify.h"

#include <inttypes.h>

int engine_take_stall(struct engine *engine, struct engine_live *live, const struct journal_record *note)
{
	bool over = strcmp(note->stall, STALL_OVER) == 0;
	if (over && !live->stall)
		return 0;
	bool news = !live->stall;
	live->experiment->changed = true; /* its summary counts them */
	free(live->stall);
	live->stall = over ? NULL : mem_printf("makes no progress: %s", note->text);
	int rc = store_set_stall(engine->store, live->id, live->stall);
	if (live->stall) {
		char *text = mem_printf("e%" PRId64 "/%" PRId64 " %s", live->experiment->id, live->task.number,
					live->stall);
		log_warning("%s", text);
		engine_notice(engine, "warning", text);
		free(text);
		if (rc == 0 && news)
			rc = notify_add(engine->notify, NOTIFY_STALL, live->experiment->id, live->task.number,
					live->stall);
	}
	/* A request to stop has a reason of its own. */
	if (rc == 0 && live->task.wanted == STORE_WANT_RUN)
		rc = store_set_task_reason(engine->store, live->task.id, engine_running_reason(live), 0);
	return rc;
}
