/* The program that compute nodes run: a copy of the daemon's program, made once and never changed afterwards.
 *
 *     STATE/bin/NAME/sluice                the copy; NAME is the version and a digest of the bytes
 *     EXPERIMENT/bin/NAME/sluice           a hard link to it, which goes when the experiment goes
 *
 * A job may wait for days while the program it was submitted with is replaced, or may not see that program's folder
 * at all; it always sees the state folder. docs/internals/node.md says why it is done like this. */
#ifndef BACKEND_RUNNER_H
#define BACKEND_RUNNER_H

#include "base/error.h"
#include "base/mem.h"

#include <stdint.h>

#define RUNNER_NAME_CHARS 64

struct runner {
	int fd; /* the program as it was when the daemon started; -1: it cannot be read */
	int64_t size; /* known with the name */
	char name[RUNNER_NAME_CHARS]; /* "" until runner_identify */
};

/* A program that can be run but not read is no error here; runner_identify reports it. */
void runner_open(const char *program, struct runner *ret);
void runner_close(struct runner *runner);
/* Reads the program and sets its name; returns 0 at once if it already has one. -EBADF: it cannot be read. */
int runner_identify(struct runner *runner, struct error *err) MUST_USE;
/* The path at which runner_place puts it. The runner must have its name. The caller frees it. */
char *runner_path(const struct runner *runner, const char *dir);

/* Makes DIR/bin/NAME/sluice, linked from STATE_DIR/bin. An existing one stays. Copies of other versions that no folder
 * uses any more are removed when a new one is made. At any moment the file is whole or absent. Blocks. Run only one at
 * a time per state folder. Returns 0, or a negative errno with what to do in err. */
int runner_place(const struct runner *runner, const char *state_dir, const char *dir, struct error *err) MUST_USE;

#endif
