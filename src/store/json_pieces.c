/* A row of every task, some of them at a time: see json_pieces.h. Between two pieces nothing of the database is held. */
#include "store/json_pieces.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/node.h"

static bool task_pieces_make(void *ctx, struct buf *out)
{
	struct task_pieces *pieces = ctx;
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	bool more = false;
	buf_add(out, buf_text(&pieces->begun), pieces->begun.len);
	buf_free(&pieces->begun);
	pieces->json.out = out;
	sqlite3_stmt *row = store_prepare(pieces->store, pieces->sql);
	sqlite3_bind_int64(row, 1, pieces->experiment);
	sqlite3_bind_int64(row, 2, pieces->last);
	while (!more && row_next(row)) {
		pieces->last = sqlite3_column_int64(row, 1);
		pieces->put(pieces, row);
		more = clock_mono_ms() >= until;
	}
	sqlite3_reset(row);
	for (; !more && pieces->ends; pieces->ends--)
		json_end(&pieces->json);
	return more;
}

static void task_pieces_free(void *ctx)
{
	struct task_pieces *pieces = ctx;
	buf_free(&pieces->begun);
	node_free(pieces->parameters);
	free(pieces);
}

struct task_pieces *task_pieces_new(struct store *store, int64_t experiment, const char *sql,
				    void (*put)(struct task_pieces *pieces, sqlite3_stmt *row), struct pieces *ret)
{
	struct task_pieces *pieces = mem_alloc(sizeof(*pieces));
	*pieces = (struct task_pieces){
		.store = store,
		.experiment = experiment,
		.sql = sql,
		.put = put,
		.begun = buf_make(BUF_UNLIMITED),
	};
	pieces->json = json_to(&pieces->begun);
	*ret = (struct pieces){task_pieces_make, task_pieces_free, pieces};
	return pieces;
}
