/* See checkpoint.h. */
#include "spool/checkpoint.h"

#include "base/mem.h"
#include "spool/paths.h"

#include <dirent.h>
#include <string.h>

bool spool_checkpoint_exists(const char *task_dir)
{
	char *path = spool_checkpoint_dir(task_dir);
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool found = false;
	while (dir && !found && (entry = readdir(dir)))
		found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	if (dir)
		closedir(dir);
	free(path);
	return found;
}
