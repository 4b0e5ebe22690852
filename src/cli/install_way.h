/* What the ways of keeping a daemon alive share: for the install*.c files only. */
#ifndef CLI_INSTALL_WAY_H
#define CLI_INSTALL_WAY_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* keep: the path of the script in the state folder that the way calls. */
struct install_way {
	const char *name, *why;
	/* 0, or a negative errno with the reason why it cannot be used here. */
	int (*works)(const char *keep, struct error *err);
	bool (*has)(const char *keep);
	void (*plan)(const char *keep); /* prints what install does */
	int (*install)(const char *keep, struct error *err);
	int (*remove)(const char *keep, struct error *err);
	/* It was installed and has ended by itself; ret_why gets the reason in words, or is NULL. NULL: that cannot be. */
	bool (*is_lost)(const char *keep, struct buf *ret_why);
};

extern const struct install_way install_job;

/* Runs it; the status is 0, or -EIO with its first line of stderr. input and out may be NULL. */
int install_run(const char *const *argv, const char *input, struct buf *out, struct error *err) MUST_USE;
/* Adds "export NAME=value" for each of these variables that has a value here. */
void install_add_environment(struct buf *out, const char *const *names, size_t count);

#endif
