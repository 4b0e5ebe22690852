/* See stack.h. */
#include "node/stack.h"

#include "base/fs.h"
#include "base/pace.h"
#include "base/text.h"
#include "node/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A note in the timeline; the file has all of it. */
#define STACK_NOTE_BYTES 700
#define STACK_FILE_BYTES (256u << 10)

/* Tried in this order. Both need permission to look into a process, which containers and hardened kernels may refuse. */
static const struct stack_program {
	const char *name;
	const char *const *words; /* before the number of the process */
	const char *const *rest; /* after it */
	bool python; /* only for a Python */
} stack_programs[] = {
	{"py-spy", (const char *const[]){"dump", "--nonblocking", "--pid", NULL}, (const char *const[]){NULL}, true},
	{"gdb", (const char *const[]){"-batch", "-nx", "-p", NULL},
	 (const char *const[]){"-ex", "thread apply all backtrace 12", NULL}, false},
};

/* The path of a program in the folders of the list. The caller frees it; NULL. */
static char *stack_find(const char *search, const char *name)
{
	for (const char *at = search ? search : ""; *at;) {
		size_t len = strcspn(at, ":");
		char *path = mem_printf("%.*s/%s", (int)len, at, name);
		if (len && access(path, X_OK) == 0)
			return path;
		free(path);
		at += len + (at[len] == ':');
	}
	return NULL;
}

static bool stack_is_python(pid_t pid)
{
	char path[64], target[4096];
	snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	const char *name = strrchr(target, '/');
	return name && text_starts(name + 1, "python");
}

static void stack_become(const char *const *argv, const char *file)
{
	int out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	launch_reset_signals();
	if (setsid() < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(127);
	execv(argv[0], (char **)argv);
	_exit(127);
}

static void stack_launch(struct stack *stack, const struct stack_program *program, const char *path, pid_t pid,
			 const char *file, int64_t now_ms)
{
	const char *argv[12] = {path};
	char number[24];
	size_t n = 1;
	snprintf(number, sizeof(number), "%ld", (long)pid);
	for (const char *const *word = program->words; *word; word++)
		argv[n++] = *word;
	argv[n++] = number;
	for (const char *const *word = program->rest; *word; word++)
		argv[n++] = *word;
	stack->pid = fork();
	if (stack->pid == 0)
		stack_become(argv, file);
	stack->pid = stack->pid < 0 ? 0 : stack->pid;
	stack->program = program->name;
	stack->until_ms = now_ms + STACK_MS;
}

bool stack_start(struct stack *stack, pid_t pid, const char *search, const char *file, int64_t now_ms)
{
	bool python = stack_is_python(pid);
	for (size_t i = 0; i < COUNT_OF(stack_programs) && !stack->pid; i++) {
		char *path = stack_programs[i].python && !python ? NULL : stack_find(search, stack_programs[i].name);
		if (path)
			stack_launch(stack, &stack_programs[i], path, pid, file, now_ms);
		if (path)
			stack->no_lines = python && !stack_programs[i].python;
		free(path);
	}
	return stack->pid > 0;
}

void stack_poll(struct stack *stack, int64_t now_ms)
{
	if (stack->pid && now_ms >= stack->until_ms)
		kill(stack->pid, SIGKILL);
}

/* The lines of the output of py-spy or gdb that say something, in one line. Pure. */
static void stack_shorten(const char *text, struct buf *out)
{
	size_t begun = out->len;
	while (*text && out->len - begun < STACK_NOTE_BYTES) {
		size_t len = strcspn(text, "\n"), blank = strspn(text, " \t");
		bool thread = text_starts(text, "Thread "), frame = blank >= 4 || *text == '#';
		size_t most = STACK_NOTE_BYTES - (out->len - begun);
		if (len > blank && (thread || frame)) {
			buf_add_text(out, out->len == begun ? "" : thread ? "; " : " < ");
			text_utf8_clean(text + blank, len - blank < most ? len - blank : most, out);
		}
		text += len + (text[len] == '\n');
	}
}

bool stack_ended(struct stack *stack, const char *file, struct buf *out)
{
	struct buf text = buf_make(STACK_FILE_BYTES), found = buf_make(BUF_UNLIMITED);
	stack->pid = 0;
	if (fs_read(file, STACK_FILE_BYTES, &text, NULL) == 0)
		stack_shorten(buf_text(&text), &found);
	if (found.len)
		buf_addf(out, "stack by %s%s: %s", stack->program,
			 stack->no_lines ? " (py-spy in the script's PATH would name the lines of the script)" : "",
			 buf_text(&found));
	else
		unlink(file);
	bool some = found.len > 0;
	buf_free(&found);
	buf_free(&text);
	return some;
}

void stack_add_wait(pid_t pid, struct buf *out)
{
	char path[64];
	struct buf text = buf_make(256);
	snprintf(path, sizeof(path), "/proc/%ld/wchan", (long)pid);
	if (fs_read(path, 256, &text, NULL) == 0 && text.len > 1)
		buf_addf(out, "; its main thread waits in %s", buf_text(&text));
	buf_free(&text);
}
