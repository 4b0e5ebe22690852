/* Follows the imports of a Python script: which modules of its own folder it needs, those that they need, and so on.
 * The files are reached through functions of the caller, so that the caller decides what may be read. */
#ifndef BASE_MODULES_H
#define BASE_MODULES_H

#include "base/buf.h"

/* Beyond it is no script with helpers any more: `files:` says what is needed. */
#define MODULES_MAX 500
#define MODULES_FILE_BYTES (4u << 20)

struct modules_entry {
	char *name;
	bool is_folder;
};

struct modules_entries {
	VEC(struct modules_entry) list;
};

/* A tree of files. All paths are relative to it; "" is the tree itself. */
struct modules_tree {
	void *ctx;
	/* Is there a file that may be taken? */
	bool (*is_file)(void *ctx, const char *path);
	/* Adds the entries of a folder, sorted by name. The caller frees them. */
	void (*list)(void *ctx, const char *path, struct modules_entries *ret);
	/* The text of a file: 0 or a negative errno. */
	int (*read)(void *ctx, const char *path, struct buf *out);
	/* Takes a module along. False: it was taken before, or cannot be. */
	bool (*take)(void *ctx, const char *path);
	/* A module that would be the next after MODULES_MAX, or was taken before. May be NULL. */
	void (*leave)(void *ctx, const char *path);
	/* The file `by` has a string that may be the path `rel` below `folder`, the folder of the script. May be NULL. */
	void (*note_path)(void *ctx, const char *folder, const char *rel, const char *by);
};

/* Calls `take` for every module of the tree that the script needs, at most MODULES_MAX. */
void modules_follow(const struct modules_tree *tree, const char *script);

#endif
