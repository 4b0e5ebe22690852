/* See stop.h. */
#include "spool/stop.h"

#include "base/fs.h"
#include "base/mem.h"
#include "spool/paths.h"

#include <unistd.h>

int spool_stop_write(const char *attempt_dir, struct error *err)
{
	int rc = fs_make_dirs(attempt_dir, SPOOL_FOLDER_MODE, err);
	if (rc < 0)
		return rc;
	char *path = spool_path(attempt_dir, SPOOL_STOP);
	rc = fs_write(path, "", 0, SPOOL_FILE_MODE, false, err);
	free(path);
	return rc;
}

bool spool_stop_exists(const char *attempt_dir)
{
	char *path = spool_path(attempt_dir, SPOOL_STOP);
	bool exists = access(path, F_OK) == 0;
	free(path);
	return exists;
}
