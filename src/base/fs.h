/* Files: whole reads with a maximum, atomic writes, folders made and removed, and paths that cannot
 * leave their folder. Every descriptor is close-on-exec. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/stat.h>
#include <sys/types.h>

/* Adds the file's bytes to out. -ENOENT when absent, -E2BIG past max bytes. */
int fs_read(const char *path, size_t max, struct buf *out, struct error *err) MUST_USE;
/* The same for a path that a user chose: never waits for a pipe or a device, -EINVAL. */
int fs_read_regular(const char *path, size_t max, struct buf *out, struct error *err) MUST_USE;
/* Writes a private file, then renames it over path: readers see the old bytes or the new ones. The
 * data is synced first when sync is true. */
int fs_write(const char *path, const void *data, size_t len, mode_t mode, bool sync, struct error *err) MUST_USE;
/* Tries to write 64 KiB to a file in the folder, and removes it: only this shows a full disk or quota. 0 or a negative
 * errno. */
int fs_try_writing(const char *folder) MUST_USE;
/* What a user can do about a failed write. */
const char *fs_write_remedy(int rc);
/* mkdir -p; 0 also when it is there. */
int fs_make_dirs(const char *path, mode_t mode, struct error *err) MUST_USE;
/* rm -rf without following links; 0 also when it is not there. */
int fs_remove_tree(const char *path, struct error *err) MUST_USE;
/* Is rel a relative path without empty, "." or ".." components, at most 1024 bytes? */
bool fs_is_safe_relative(const char *rel);
/* Opens rel below the folder dir: no component may be a symbolic link that leaves it. A descriptor,
 * or a negative errno. */
int fs_open_beneath(const char *dir, const char *rel, int flags, mode_t mode) MUST_USE;
/* Makes `to` with the bytes of a file: a reflink where the file system has them, else a copy. */
int fs_copy_file(const char *from, const char *to, mode_t mode, struct error *err) MUST_USE;
/* The absolute path of the running program. The caller frees it. */
char *fs_program(void);
/* ~/.local/state/sluice, the default state folder. The caller frees it. NULL without HOME. */
char *fs_usual_state(void);
/* Writes all of it, or returns a negative errno. Continues after EINTR and short writes. */
int fs_write_all(int fd, const void *data, size_t len) MUST_USE;

#endif
