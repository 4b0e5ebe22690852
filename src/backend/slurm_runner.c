/* Puts the program where the nodes see it, on libuv's pool and one after another, before anything that needs it is
 * submitted. */
#include "backend/slurm_private.h"

struct slurm_placing {
	struct slurm *slurm;
	struct slurm_placing *next;
	uv_work_t work;
	char *dir; /* NULL: nothing to do, the program is run where it is */
	slurm_placed_f placed;
	void *ctx;
	int rc;
	struct error err;
};

char *slurm_runner_path(struct slurm *slurm, const char *dir)
{
	/* Some sites install programs that can be run and not read. */
	if (runner_identify(&slurm->runner, NULL) < 0)
		return mem_strdup(slurm->program);
	return runner_path(&slurm->runner, dir);
}

static void slurm_placing_start(struct slurm_placing *placing);

static void slurm_placing_work_cb(uv_work_t *work)
{
	struct slurm_placing *placing = work->data;
	if (placing->dir)
		placing->rc = runner_place(&placing->slurm->runner, placing->slurm->state_dir, placing->dir,
					   &placing->err);
}

static void slurm_placing_done_cb(uv_work_t *work, int status)
{
	struct slurm_placing *placing = work->data;
	struct slurm *slurm = placing->slurm;
	(void)status; /* it is never cancelled */
	slurm->placing = placing->next;
	if (slurm->placing)
		slurm_placing_start(slurm->placing);
	placing->placed(placing->ctx, placing->rc < 0 ? placing->err.text : NULL);
	free(placing->dir);
	free(placing);
	slurm_release(slurm);
}

static void slurm_placing_start(struct slurm_placing *placing)
{
	placing->work.data = placing;
	uv_queue_work(placing->slurm->loop, &placing->work, slurm_placing_work_cb, slurm_placing_done_cb);
}

void slurm_place_runner(struct slurm *slurm, const char *dir, slurm_placed_f placed, void *ctx)
{
	struct slurm_placing *placing = mem_alloc(sizeof(*placing)), **last = &slurm->placing;
	bool copied = runner_identify(&slurm->runner, NULL) == 0;
	*placing = (struct slurm_placing){
		.slurm = slurm, .dir = copied ? mem_strdup(dir) : NULL, .placed = placed, .ctx = ctx};
	slurm_hold(slurm);
	while (*last)
		last = &(*last)->next;
	*last = placing;
	if (slurm->placing == placing)
		slurm_placing_start(placing);
}
