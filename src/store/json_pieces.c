/* A row of every task, some of them at a time: see json_pieces.h. Between two pieces no statement of the database is
 * open. */
#include "store/json_pieces.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/node.h"

static int task_pieces_make(void *ctx, struct buf *out)
{
	struct task_pieces *pieces = ctx;
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	int rc;
	buf_add(out, buf_text(&pieces->begun), pieces->begun.len);
	buf_free(&pieces->begun);
	pieces->json.out = out;
	sqlite3_stmt *row = store_bind(pieces->store, pieces->sql, "ii", pieces->experiment, pieces->last);
	while ((rc = store_step(pieces->store, row)) > 0) {
		pieces->last = row_int(row, 1);
		int put = pieces->put(pieces, row);
		if (put < 0 || clock_mono_ms() >= until) {
			store_end(row);
			return put < 0 ? put : 1;
		}
	}
	for (; rc == 0 && pieces->ends; pieces->ends--)
		json_end(&pieces->json);
	return rc;
}

static void task_pieces_free(void *ctx)
{
	struct task_pieces *pieces = ctx;
	buf_free(&pieces->begun);
	node_free(pieces->parameters);
	node_free(pieces->metrics);
	free(pieces->only);
	node_free(pieces->objectives);
	free(pieces);
}

struct task_pieces *task_pieces_new(struct store *store, int64_t experiment, const char *sql,
				    int (*put)(struct task_pieces *pieces, sqlite3_stmt *row), struct pieces *ret)
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
