/* An attempt that may be alive, as the engine has it in memory. load.c makes it from its row. */
#ifndef ENGINE_LIVE_H
#define ENGINE_LIVE_H

#include "engine/asked.h"
#include "engine/decide.h"
#include "engine/engine.h"
#include "engine/left.h"
#include "store/rows.h"

#include "base/buf.h"
#include "base/token.h"

struct engine_experiment;
struct engine_source;

struct engine_live {
	struct engine_experiment *experiment;
	int64_t id, number; /* of the attempt */
	struct store_task task; /* progress; texts NULL */
	char *parameters; /* JSON; NULL where no runner gets a descriptor */
	char token[TOKEN_ID_CHARS];
	uint32_t index;
	struct engine_worker worker; /* that took it; pid 0: there is none, or it is not known */
	char *job, *batch_dir, *attempt_dir;
	bool unsent; /* made by this daemon and not handed to its backend yet: no runner can have begun with it */
	bool unplaced; /* its descriptor cannot be read, so attempt_dir may be wrong: engine_place */
	char *node; /* its node according to the backend, until its journal names it; NULL: not known */
	int64_t offset, created_ms, started_ms;
	struct asked asked;
	struct attempt_facts facts; /* what is known of it; decide.h decides from this */
	int64_t save_until_ms; /* it was asked to save a checkpoint and end, and has time until then; 0 */
	bool stop_confirmed; /* the backend has answered a call to end it: stopping.h */
	uint64_t confirmed_at; /* if so: the backend's number of polls at that time */
	char *reason; /* why it waits, as last sent; NULL */
	char *step_name; /* what its steps count, as last stored; NULL */
	bool epochs_asked; /* `epochs` is known */
	bool epochs; /* task.step is an epoch: rows without one do not move it */
	bool printed_steps; /* printed rows moved its step */
	bool file_from_zero; /* a file counts its steps from 0: what is printed does not move it */
	char *paused; /* why it makes no progress although it runs; NULL */
	char *slow; /* the reason of its task while it is slower than its siblings: slow.h; NULL */
	char *stall; /* the reason of its task while its script makes no progress: stalled.h; NULL */
	int64_t away_ms; /* since when the folder of its experiment is missing, monotonic; 0: it is there */
	unsigned collect_failures; /* collect.h */
	int64_t collect_after_ms; /* do not collect before this time, monotonic */
	bool damaged; /* lines of its journal could not be read */
	bool start_read; /* its START was read: facts.beats is what that says */
	enum engine_silence {
		SILENCE_NONE,
		SILENCE_SOME,
		SILENCE_AWAY,
		SILENCE_ENDED,
		SILENCE_GIVEN_UP
	} silence; /* as last sent */
	int64_t expected_ms; /* when it is expected to start; 0 unknown */
	VEC(struct engine_source *) sources; /* of its metrics: series.h */
	bool sources_read; /* from the store */
	bool recount; /* best and last must be read from the store: values were renamed or replaced */
	bool unwritten; /* rows came since the progress was last written */
	struct left_seen left; /* for how much longer it takes */
	double pruned_at; /* how far it was when it was last looked at for pruning; -1: not yet */
	struct buf rows;
	struct cost gone_cost; /* what it used according to the backend; .known is 0 once it is stored */
	bool accounted; /* the backend has reported how long it ran */
	char *gone_source; /* where its energy comes from */
};

/* Does it have a runner, with a batch folder and a journal? An attempt that a user's own worker took has none. */
static inline bool engine_has_runner(const struct engine_live *live)
{
	return !(live->facts.traits & BACKEND_PULLED);
}

#endif
