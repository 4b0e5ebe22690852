/* Searches that think on libuv's pool. */
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
	struct buf state; /* of the search when it was asked; shown meanwhile */
	VEC(struct store_event) later; /* what it is told afterwards; owns the values */
};

/* Asks for the next proposal; there must be no question yet. */
void engine_pose_question(struct engine *engine, struct engine_experiment *experiment);
/* Applies the answer, where there is one; inside the transaction. Returns how many proposals that were (0 or 1). */
int engine_take_answer(struct engine *engine, struct engine_experiment *experiment) MUST_USE;
/* The answer is not wanted any more. The experiment then has neither search nor spec: the worker may still be at
 * them, and they are freed when it is not. Harmless where there is no question. */
void engine_drop_question(struct engine_experiment *experiment);

#endif
