/* See ran.h. The file is read once for all attempts that ran the same. */
#include "engine/ran.h"

#include "engine/experiment.h"
#include "engine/folder.h"
#include "engine/live.h"

#include "base/log.h"
#include "base/node.h"
#include "spool/paths.h"
#include "spool/ran.h"
#include "store/rows.h"

#include <inttypes.h>

/* The content comes from a node: only whole JSON goes into the store. */
static int ran_read(struct engine *engine, int64_t experiment, const char *digest, struct buf *out, struct error *err)
{
	char *root = engine_folder(engine, experiment, 0, 0), *dir = spool_ran_dir(root);
	struct node *tree = NULL;
	int rc = spool_ran_read(dir, digest, out, err);
	if (rc == 0)
		rc = node_parse_json(buf_text(out), out->len, &tree, err);
	node_free(tree);
	free(dir);
	free(root);
	return rc;
}

int engine_take_ran(struct engine *engine, const struct engine_live *live, const char *digest)
{
	struct buf text = buf_make(SPOOL_RAN_BYTES);
	struct error err = {0};
	int64_t experiment = live->experiment->id;
	if (!spool_ran_is_digest(digest))
		return 0;
	int rc = store_has_ran(engine_store(engine), experiment, digest);
	if (rc == 0 && ran_read(engine, experiment, digest, &text, &err) == 0)
		rc = store_add_ran(engine_store(engine), experiment, digest, buf_text(&text));
	else if (rc == 0)
		log_warning("what e%" PRId64 "/%" PRId64 " ran cannot be read: %s", experiment, live->task.number,
			    err.text);
	buf_free(&text);
	return rc < 0 ? rc : store_set_ran(engine_store(engine), live->id, digest);
}
