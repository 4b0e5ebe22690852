/* A file layer for SQLite. It works like SQLite's own, except that a commit writes to the log in one piece. */
#ifndef STORE_VFS_H
#define STORE_VFS_H

/* The name of the layer, for opening a database; NULL (SQLite's default) if it could not be set up. */
const char *store_vfs(void);

#endif
