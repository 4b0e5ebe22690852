/* SQLite's own files, but for its log: what a commit writes there goes out in one piece. */
#ifndef STORE_VFS_H
#define STORE_VFS_H

/* The name to open a database with; NULL (SQLite's own way) where it could not be set up. */
const char *store_vfs(void);

#endif
