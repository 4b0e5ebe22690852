/* A search that computes for longer than the loop may be blocked (SEARCH_SLOW) does so on libuv's pool. From the
 * question until its answer is taken, only the worker uses the search: the loop neither reads nor changes it. Results
 * that come in between are stored at once, after the place that the question has in the sequence, and the search gets
 * them after its answer. A replay sees the same order, because the answer did not depend on them. A question without an
 * answer leaves no row, so after a crash it is just asked again. */
#include "engine/question.h"

#include "engine/experiment.h"
#include "engine/external.h"
#include "engine/propose.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/turn.h"

#include <math.h>

static void question_free(struct engine_question *q)
{
	if (!q->experiment) {
		search_free(q->search);
		spec_free(q->spec);
	}
	for (size_t i = 0; i < q->later.len; i++)
		free((char *)(uintptr_t)q->later.at[i].value);
	free(q->later.at);
	free(q->proposal.values);
	buf_free(&q->state);
	free(q);
}

static void question_work_cb(uv_work_t *work)
{
	struct engine_question *q = work->data;
	uint64_t begin = uv_hrtime();
	q->answer = search_ask(q->search, q->asked, &q->proposal);
	q->took_ns = uv_hrtime() - begin;
}

/* Taken with what it causes: at once by the request that asked for it, else by the next turn. */
static void question_done_cb(uv_work_t *work, int status)
{
	struct engine_question *q = work->data;
	struct engine *engine = q->engine;
	(void)status; /* only what was dropped is cancelled */
	engine->questions--;
	q->answered = true;
	if (!q->experiment) {
		question_free(q);
		return;
	}
	if (!engine->closing && !engine->pause_ms)
		engine_serve_askers(engine);
	engine_soon(engine);
}

void engine_pose_question(struct engine *engine, struct engine_experiment *e)
{
	struct engine_question *q = mem_alloc(sizeof(*q));
	*q = (struct engine_question){
		.engine = engine,
		.experiment = e,
		.search = e->search,
		.spec = e->spec,
		.asked = ++e->last_asked,
		.seq = e->next_seq++,
		.proposal = {.values = mem_array(e->spec->space->count, sizeof(*q->proposal.values)),
			     .repeat = 1,
			     .fidelity = NAN,
			     .continues = -1},
		.state = buf_make(BUF_UNLIMITED),
	};
	struct json w = json_to(&q->state);
	search_write_state(e->search, &w);
	e->question = q;
	engine->questions++;
	q->work.data = q;
	uv_queue_work(engine->loop, &q->work, question_work_cb, question_done_cb);
}

int engine_take_answer(struct engine *engine, struct engine_experiment *e)
{
	struct engine_question *q = e->question;
	if (!q || !q->answered)
		return 0;
	e->question = NULL;
	e->needs_result = q->answer == SEARCH_WAIT;
	e->ask_ms = (double)q->took_ns / 1e6;
	int rc = engine_add_proposal(engine, e, q->answer, q->asked, q->seq, &q->proposal);
	if (rc == 0)
		rc = engine_tell_events(e, q->later.at, q->later.len);
	bool proposed = q->answer == SEARCH_PROPOSED;
	question_free(q);
	return rc < 0 ? rc : proposed;
}

void engine_drop_question(struct engine_experiment *e)
{
	struct engine_question *q = e->question;
	if (!q)
		return;
	e->question = NULL;
	e->search = NULL;
	e->spec = NULL;
	q->experiment = NULL;
	if (q->answered)
		question_free(q);
	else
		uv_cancel((uv_req_t *)&q->work); /* where it has not begun; else it ends by itself */
}
