/* Long answers with data of every task, made in pieces. Only for the json_*.c files of this folder. */
#ifndef STORE_JSON_PIECES_H
#define STORE_JSON_PIECES_H

#include "store/json_row.h"

/* One such answer. It starts with the content of `begun`. */
struct task_pieces {
	struct store *store;
	int64_t experiment, last; /* the number of the last task that was written */
	const char *sql; /* ?1 experiment, ?2 numbers above this one; by number; column 1 is the number */
	int (*put)(struct task_pieces *pieces, sqlite3_stmt *row); /* 0 or a negative errno */
	unsigned ends; /* JSON levels to close at the end */
	struct json json; /* writes into the piece */
	struct buf begun;
	int64_t name, points; /* curves: of this metric, thinned to so many */
	int64_t digits; /* curves: of their values; 0: all */
	enum store_axis axis;
	int64_t from, to; /* curves: steps */
	int64_t *only; /* curves: of these tasks, ascending; NULL: of all */
	size_t only_count;
	struct node *parameters; /* CSV: the columns */
	struct node *metrics; /* CSV: further columns, {NAME: id} */
	struct node *objectives; /* CSV: [{"metric","goal"}] */
};

struct task_pieces *task_pieces_new(struct store *store, int64_t experiment, const char *sql,
				    int (*put)(struct task_pieces *pieces, sqlite3_stmt *row), struct pieces *ret);

/* Of metric_name: a task of the experiment has a value of that name. A name that a second file took away (loss, now
 * train/loss and val/loss) has none. By number, because the first tasks are those that have begun. */
#define JSON_METRIC_HAS_ROWS                                                                                           \
	"EXISTS (SELECT 1 FROM task t WHERE t.experiment = metric_name.experiment AND t.number > 0 AND "               \
	"EXISTS (SELECT 1 FROM metric m WHERE m.task = t.id AND m.name = metric_name.id))"

#endif
