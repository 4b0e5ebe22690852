/* Slow searches compute their proposals on libuv's pool. */
#ifndef ENGINE_QUESTION_H
#define ENGINE_QUESTION_H

#include "search/search.h"
#include "store/rows.h"

#include <uv.h>

struct engine;
struct engine_experiment;
struct spec;

struct engine_question {
	uv_work_t work;
	struct engine *engine;
	struct engine_experiment
		*experiment; /* NULL: the answer is no longer wanted, and the question owns search and spec */
	struct search *search;
	struct spec *spec;
	int64_t asked, seq; /* kept for the answer */
	struct search_proposal proposal;
	enum search_answer answer;
	bool answered;
	uint64_t took_ns; /* the computing of the answer */
	struct buf state; /* the state of the search when it was asked; shown until the answer comes */
	VEC(struct store_event) later; /* events to tell the search after the answer; owns the values */
};

/* Asks for the next proposal; there must be no question yet. */
void engine_pose_question(struct engine *engine, struct engine_experiment *experiment);
/* Applies the answer if there is one; inside the transaction. Returns the number of proposals (0 or 1). */
int engine_take_answer(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* Drops the question. The experiment loses its search and spec, because the worker may still use them; they are freed
 * when the worker is done. Does nothing if there is no question. */
void engine_drop_question(struct engine_experiment *experiment);

#endif
