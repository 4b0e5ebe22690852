/* Names of runs from the folders of their files, as TensorBoard shows them: logs/train and logs/validation hold two
 * runs, and so do runs/x and runs/x/loss_val. */
#ifndef NODE_FOLDER_H
#define NODE_FOLDER_H

#include "base/buf.h"

/* The length of the folder of a path, without the last slash; 0: it has none. */
size_t folder_length(const char *path);
bool folder_is_same(const char *path, const char *other);
/* The prefix for the names of a file, given all files of its kind. It is the path from the nearest folder above that
 * also holds such a file; else the folder itself if it is named like a part of the data (train, validation, …); else
 * "". All paths begin at the same folder. The caller frees it. */
char *folder_prefix(const char *path, const char *const *others, size_t count);

#endif
