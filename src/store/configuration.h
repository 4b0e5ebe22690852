/* Configurations that are run several times (`repeats`), for SQL texts: their tasks have the same parameters, and what
 * counts is the mean over those that have a value. One with a repeat that ended without a value (it crashed, or diverged)
 * or that does not keep a limit is no candidate for the best: a mean of the survivors would lead. Only for the files of this folder. */
#ifndef STORE_CONFIGURATION_H
#define STORE_CONFIGURATION_H

#include "store/number.h"

/* Of experiment ?1: parameters, mean, tasks with a value, tasks that have not ended or are still to come, the first task,
 * tasks that ended badly or are beyond a limit. A search proposes repeats one by one: without those to come, the first one
 * would be a mean of its own. Once it has proposed everything none comes: of fewer than `repeats` the others were removed,
 * or it was suggested or imported. */
#define CONFIGURATION_TO_COME                                                                                          \
	"max(0, (SELECT iif(asked_all, 0, json_extract(spec, '$.repeats')) FROM experiment WHERE id = ?1) - count(*))"
#define CONFIGURATION_BAD "beyond IS NOT NULL OR (best IS NULL AND state IN (" NUMBER(FINISHED) ", " NUMBER(ERROR) "))"
#define SQL_MEANS                                                                                                      \
	"SELECT parameters AS p, avg(best) AS m, count(best) AS n, sum(state < " NUMBER(                               \
		FINISHED) ") + " CONFIGURATION_TO_COME " AS o, min(number) AS f, sum(" CONFIGURATION_BAD               \
			  ") AS b FROM task WHERE experiment = ?1 GROUP BY parameters"

/* The standard deviation of the repeats; NULL for one value. */
#define CONFIGURATION_SPREAD "CASE WHEN c.n > 1 THEN sqrt(sum((t.best - c.m) * (t.best - c.m)) / (c.n - 1)) END"

/* Configurations of experiment ?1, the best first; those that are not complete, or with tasks that ended without a value,
 * come last, because a mean of the lucky half would lead. Columns of task t are those of the repeat nearest to the mean: SQLite takes bare columns from
 * the row of the only min(). */
#define SQL_CONFIGURATIONS(columns, order, limit)                                                                      \
	"WITH c AS MATERIALIZED (" SQL_MEANS ") SELECT " columns ", min(abs(t.best - c.m)) "                           \
	"FROM task t JOIN c ON c.p = t.parameters WHERE t.experiment = ?1 AND t.best IS NOT NULL "                     \
	"GROUP BY c.p ORDER BY c.o > 0, c.b > 0, c.m" order ", c.f LIMIT " limit

#endif
