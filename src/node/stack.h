/* Where a script is: its stack, by py-spy or gdb where one of them is installed, and what the kernel says it waits for. */
#ifndef NODE_STACK_H
#define NODE_STACK_H

#include "base/buf.h"

#include <stdint.h>
#include <sys/types.h>

struct stack {
	pid_t pid; /* of the program that looks; 0: none does */
	int64_t until_ms; /* monotonic: it is killed then */
	const char *program;
	bool no_lines; /* it is a Python, and the program does not know the lines of its script */
};

/* Starts a program that writes the stack of the process into the file. `search` is a list of folders like PATH; NULL is
 * an empty one. False: there is no such program. The runner waits for its children: see stack_ended. */
bool stack_start(struct stack *stack, pid_t pid, const char *search, const char *file, int64_t now_ms);
/* Kills the program when it takes too long. */
void stack_poll(struct stack *stack, int64_t now_ms);
/* The program has ended. Adds what it found to `out`, as one line of limited length; false: nothing. */
bool stack_ended(struct stack *stack, const char *file, struct buf *out);

/* "futex_wait_queue": the function of the kernel in which the process waits. Nothing where the kernel does not say. */
void stack_add_wait(pid_t pid, struct buf *out);

#endif
