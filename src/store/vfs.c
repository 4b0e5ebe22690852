/* SQLite writes every page of a commit to its log by two calls, one for a header of 24 bytes and one for the page: an
 * ask and a tell together make 54, which was half of what they cost. Here they are gathered, and written when SQLite
 * wants them on the disk, reads, or does anything but append. This loses nothing: a commit counts only after its sync.
 * An error that a write would have returned is returned by the sync instead, and fails the same commit. */
#include "store/vfs.h"

#include "base/mem.h"

#include <sqlite3.h>
#include <string.h>

#define GATHER_NAME "sluice"
#define GATHER_BYTES (1 << 16) /* SQLite's files take less than 128 kB at a time */

struct gather {
	sqlite3_file base;
	char *data;
	int len;
	sqlite3_int64 at; /* where in the file they belong */
	/* SQLite's own file follows. */
};

static sqlite3_file *vfs_real_of(sqlite3_file *file)
{
	return (sqlite3_file *)((struct gather *)file + 1);
}

static int vfs_flush(sqlite3_file *file)
{
	struct gather *g = (struct gather *)file;
	int len = g->len;
	g->len = 0; /* also when it fails: the commit is undone, what follows belongs elsewhere */
	return len ? vfs_real_of(file)->pMethods->xWrite(vfs_real_of(file), g->data, len, g->at) : SQLITE_OK;
}

static int gather_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 at)
{
	struct gather *g = (struct gather *)file;
	if (g->len && (at != g->at + g->len || len > GATHER_BYTES - g->len)) {
		int rc = vfs_flush(file);
		if (rc != SQLITE_OK)
			return rc;
	}
	if (len > GATHER_BYTES)
		return vfs_real_of(file)->pMethods->xWrite(vfs_real_of(file), data, len, at);
	if (!g->len)
		g->at = at;
	memcpy(g->data + g->len, data, (size_t)len);
	g->len += len;
	return SQLITE_OK;
}

static int gather_close(sqlite3_file *file)
{
	int rc = vfs_flush(file), closed = vfs_real_of(file)->pMethods->xClose(vfs_real_of(file));
	free(((struct gather *)file)->data);
	return rc != SQLITE_OK ? rc : closed;
}

static int gather_read(sqlite3_file *file, void *ret, int len, sqlite3_int64 at)
{
	int rc = vfs_flush(file);
	return rc != SQLITE_OK ? rc : vfs_real_of(file)->pMethods->xRead(vfs_real_of(file), ret, len, at);
}

static int gather_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	int rc = vfs_flush(file);
	return rc != SQLITE_OK ? rc : vfs_real_of(file)->pMethods->xTruncate(vfs_real_of(file), size);
}

static int gather_sync(sqlite3_file *file, int flags)
{
	int rc = vfs_flush(file);
	return rc != SQLITE_OK ? rc : vfs_real_of(file)->pMethods->xSync(vfs_real_of(file), flags);
}

static int gather_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	int rc = vfs_flush(file);
	return rc != SQLITE_OK ? rc : vfs_real_of(file)->pMethods->xFileSize(vfs_real_of(file), ret);
}

static int gather_lock(sqlite3_file *file, int level)
{
	return vfs_real_of(file)->pMethods->xLock(vfs_real_of(file), level);
}

static int gather_unlock(sqlite3_file *file, int level)
{
	return vfs_real_of(file)->pMethods->xUnlock(vfs_real_of(file), level);
}

static int gather_reserved(sqlite3_file *file, int *ret)
{
	return vfs_real_of(file)->pMethods->xCheckReservedLock(vfs_real_of(file), ret);
}

static int gather_control(sqlite3_file *file, int what, void *arg)
{
	return vfs_real_of(file)->pMethods->xFileControl(vfs_real_of(file), what, arg);
}

static int gather_sector(sqlite3_file *file)
{
	return vfs_real_of(file)->pMethods->xSectorSize(vfs_real_of(file));
}

static int gather_device(sqlite3_file *file)
{
	return vfs_real_of(file)->pMethods->xDeviceCharacteristics(vfs_real_of(file));
}

static const sqlite3_io_methods gather_methods = {
	.iVersion = 1,
	.xClose = gather_close,
	.xRead = gather_read,
	.xWrite = gather_write,
	.xTruncate = gather_truncate,
	.xSync = gather_sync,
	.xFileSize = gather_size,
	.xLock = gather_lock,
	.xUnlock = gather_unlock,
	.xCheckReservedLock = gather_reserved,
	.xFileControl = gather_control,
	.xSectorSize = gather_sector,
	.xDeviceCharacteristics = gather_device,
};

static int gather_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);
	(void)vfs;
	if (!(flags & SQLITE_OPEN_WAL))
		return real->xOpen(real, name, file, flags, ret_flags);
	struct gather *g = (struct gather *)file;
	*g = (struct gather){0};
	int rc = real->xOpen(real, name, vfs_real_of(file), flags, ret_flags);
	if (rc == SQLITE_OK) {
		g->base.pMethods = &gather_methods;
		g->data = mem_resize(NULL, GATHER_BYTES, 1);
	} else if (vfs_real_of(file)->pMethods) {
		vfs_real_of(file)->pMethods->xClose(vfs_real_of(file));
	}
	return rc;
}

const char *store_vfs(void)
{
	static sqlite3_vfs gathering;
	const sqlite3_vfs *real = sqlite3_vfs_find(NULL);
	if (sqlite3_vfs_find(GATHER_NAME))
		return GATHER_NAME;
	if (!real)
		return NULL;
	gathering = *real;
	gathering.pNext = NULL;
	gathering.zName = GATHER_NAME;
	gathering.szOsFile = (int)sizeof(struct gather) + real->szOsFile;
	gathering.xOpen = gather_open;
	return sqlite3_vfs_register(&gathering, 0) == SQLITE_OK ? GATHER_NAME : NULL;
}
