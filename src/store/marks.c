/* Tags, notes and stars of experiments and tasks: see rows.h. */
#include "store/rows.h"

#include "store/sql.h"

#include <errno.h>

/* ?1 is the experiment, ?2 the number of a task. */
#define OF_TASK " WHERE experiment = ?1 AND number = ?2"
#define OF_EXPERIMENT " WHERE id = ?1 AND ?2 = 0 AND removing = 0"
static const char sql_tags_of_task[] = "SELECT tags FROM task" OF_TASK;
static const char sql_tags_of_experiment[] = "SELECT tags FROM experiment" OF_EXPERIMENT;
static const char sql_tag_task[] = "UPDATE task SET tags = ?3" OF_TASK;
static const char sql_tag_experiment[] = "UPDATE experiment SET tags = ?3" OF_EXPERIMENT;
static const char sql_note_task[] = "UPDATE task SET notes = ?3" OF_TASK;
static const char sql_note_experiment[] = "UPDATE experiment SET notes = ?3" OF_EXPERIMENT;
static const char sql_star_task[] = "UPDATE task SET star = ?3" OF_TASK;
static const char sql_star_experiment[] = "UPDATE experiment SET star = ?3" OF_EXPERIMENT;
static const char sql_archive[] = "UPDATE experiment SET archived = ?2 WHERE id = ?1";

int store_read_tags(struct store *store, int64_t experiment, int64_t number, struct buf *out)
{
	sqlite3_stmt *row = store_bind(store, number ? sql_tags_of_task : sql_tags_of_experiment, "ii", experiment,
				       number);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	buf_add_text(out, row_text(row, 0));
	store_end(row);
	return 0;
}

int store_set_tags(struct store *store, int64_t experiment, int64_t number, const char *json)
{
	return store_run(store, number ? sql_tag_task : sql_tag_experiment, "iis", experiment, number, json);
}

int store_set_notes(struct store *store, int64_t experiment, int64_t number, const char *text)
{
	return store_run(store, number ? sql_note_task : sql_note_experiment, "iis", experiment, number,
			 text && *text ? text : NULL);
}

int store_set_star(struct store *store, int64_t experiment, int64_t number, bool star)
{
	return store_run(store, number ? sql_star_task : sql_star_experiment, "iii", experiment, number, (int64_t)star);
}

int store_set_archived(struct store *store, int64_t experiment, bool archived)
{
	return store_run(store, sql_archive, "ii", experiment, (int64_t)archived);
}
