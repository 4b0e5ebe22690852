/* The program that compute nodes run: a copy of the daemon's own, made once and never changed afterwards.
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

/* A program that cannot be read (only run) is no error: runner_identify says so. */
void runner_open(const char *program, struct runner *ret);
void runner_close(struct runner *runner);
/* Reads the program once for its name; 0 also when it has one. -EBADF: it cannot be read. */
int runner_identify(struct runner *runner, struct error *err) MUST_USE;
/* Where runner_place puts it; the runner has its name. The caller frees it. */
char *runner_path(const struct runner *runner, const char *dir);

/* Makes DIR/bin/NAME/sluice, by way of STATE_DIR/bin; one that is there already stays. Copies of other versions that no
 * folder uses any more are removed when a new one is made. At any moment the file is whole or absent. Blocks; one at a
 * time for one state folder. 0, or a negative errno and what to do. */
int runner_place(const struct runner *runner, const char *state_dir, const char *dir, struct error *err) MUST_USE;

#endif
