/* One pass over /proc finds the descendants: the runner is their subreaper, so processes whose parent has ended are
 * found too. */
#include "node/usage.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/num.h"
#include "base/pace.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A close look at the memory costs no more than this part of a core, and twice that while the memory grows by so much. */
#define USAGE_LOOK_SHARE 0.0025
#define USAGE_LOOK_GROWTH 1.1

/* User and system time together. */
static double usage_rusage_ms(const struct rusage *u)
{
	return (double)((int64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 +
			(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1000);
}

/* Fields of /proc/PID/stat from the third on; see proc(5) for the numbers. */
static bool usage_parse_stat(const char *text, struct usage_process *ret)
{
	uint64_t field[25] = {0};
	const char *p = strrchr(text, ')');
	if (!p || strlen(p) < 4)
		return false;
	ret->state = p[2];
	p += 4; /* ") S " */
	for (int i = 4; i < 25 && *p; i++) {
		size_t n = strcspn(p, " \n");
		if (num_parse_unsigned(p, n, UINT64_MAX, &field[i]) < 0)
			field[i] = 0; /* tpgid and nice may be negative */
		p += n + (p[n] != 0);
	}
	ret->parent = field[4];
	ret->counts[USAGE_FAULTS] = field[10] + field[11] + field[12] + field[13];
	ret->own_ticks = field[14] + field[15];
	ret->ticks = ret->own_ticks + field[16] + field[17];
	ret->threads = field[20];
	ret->started = field[22];
	ret->pages = field[24];
	return true;
}

static bool usage_read_stat(uint64_t pid, struct usage_process *ret)
{
	char path[64];
	struct buf text = buf_make(4096);
	*ret = (struct usage_process){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	bool there = fs_read(path, 4096, &text, NULL) == 0 && usage_parse_stat(buf_text(&text), ret);
	buf_free(&text);
	return there;
}

static void usage_read_processes(usage_processes *all)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		struct usage_process process;
		uint64_t pid;
		if (num_parse_unsigned(entry->d_name, strlen(entry->d_name), INT32_MAX, &pid) == 0 &&
		    usage_read_stat(pid, &process))
			vec_push(all, process);
	}
	if (dir)
		closedir(dir);
}

static int usage_compare(const void *a, const void *b)
{
	const struct usage_process *p = a, *q = b;
	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

/* A parent may have a higher number than its child, so marking goes round until nothing changes. */
static void usage_mark(const struct usage *usage, usage_processes *all)
{
	bool changed = true;
	if (all->len)
		qsort(all->at, all->len, sizeof(*all->at), usage_compare);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < all->len; i++) {
			struct usage_process *p = &all->at[i], key = {.pid = p->parent};
			if (p->ours || (usage->helper && p->pid == (uint64_t)usage->helper) ||
			    (usage->looker && p->pid == (uint64_t)usage->looker))
				continue;
			const struct usage_process *parent = bsearch(&key, all->at, all->len, sizeof(*all->at),
								     usage_compare);
			p->ours = p->parent == (uint64_t)getpid() || (parent && parent->ours) ||
				(usage->adopted && p->pid == (uint64_t)usage->adopted);
			changed |= p->ours;
		}
	}
}

/* Keeps the processes of the script, in the order of their numbers. */
static void usage_look(const struct usage *usage, usage_processes *all)
{
	size_t kept = 0;
	usage_read_processes(all);
	usage_mark(usage, all);
	for (size_t i = 0; i < all->len; i++)
		if (all->at[i].ours)
			all->at[kept++] = all->at[i];
	all->len = kept;
}

/* "read_bytes: 123" of /proc/PID/io. */
static uint64_t usage_io_line(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	uint64_t value = 0;
	if (!at)
		return 0;
	at += strlen(name);
	return num_parse_unsigned(at, strcspn(at, "\n"), UINT64_MAX, &value) == 0 ? value : 0;
}

static void usage_read_io(struct usage_process *process)
{
	char path[64];
	struct buf text = buf_make(4096);
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/io", process->pid);
	if (fs_read(path, 4096, &text, NULL) == 0) {
		process->counts[USAGE_READ] = usage_io_line(buf_text(&text), "\nread_bytes: ");
		process->counts[USAGE_WRITE] = usage_io_line(buf_text(&text), "\nwrite_bytes: ");
		process->counts[USAGE_CALLS] = usage_io_line(buf_text(&text), "\nsyscr: ") +
			usage_io_line(buf_text(&text), "\nsyscw: ");
		process->knows_io = true;
	}
	buf_free(&text);
}

static struct usage_process *usage_at(const usage_processes *all, uint64_t pid)
{
	struct usage_process key = {.pid = pid};
	return all->len ? bsearch(&key, all->at, all->len, sizeof(*all->at), usage_compare) : NULL;
}

static const struct usage_process *usage_find(const usage_processes *all, const struct usage_process *process)
{
	const struct usage_process *found = usage_at(all, process->pid);
	return found && found->started == process->started ? found : NULL;
}

/* Reads the nearest living process above `child`, which has ended, once more: now it has its counts if it waited for it. */
static void usage_read_above(const usage_processes *found, const struct usage_process *child, usage_processes *all)
{
	const struct usage_process *above = child;
	struct usage_process *parent = NULL, again;
	while (!parent && (above = usage_at(found, above->parent))) {
		parent = usage_at(all, above->pid);
		parent = parent && parent->started == above->started && parent->ours ? parent : NULL;
	}
	if (!parent || !usage_read_stat(parent->pid, &again) || again.started != parent->started)
		return;
	usage_read_io(&again);
	again.ours = true;
	*parent = again;
}

/* Leaves out what has ended since it was found. Returns whether there was any. */
static bool usage_drop_ended(usage_processes *all)
{
	size_t kept = 0, found = all->len;
	for (size_t i = 0; i < found; i++)
		all->at[i].ours = kill((pid_t)all->at[i].pid, 0) == 0 || errno != ESRCH;
	for (size_t i = 0; i < found; i++)
		if (!all->at[i].ours)
			usage_read_above(all, &all->at[i], all);
	for (size_t i = 0; i < found; i++)
		if (all->at[i].ours)
			all->at[kept++] = all->at[i];
	all->len = kept;
	return kept < found;
}

/* A child that is waited for while we look would count twice, as itself and with its parent, or at the wrong time: a
 * process that may have waited for one that has ended is read after that end. */
static void usage_look_whole(const struct usage *usage, usage_processes *all)
{
	usage_look(usage, all);
	for (size_t i = 0; i < all->len; i++)
		usage_read_io(&all->at[i]);
	for (size_t i = 0; i < usage->seen.len; i++)
		if (!usage_find(all, &usage->seen.at[i]))
			usage_read_above(&usage->seen, &usage->seen.at[i], all);
	while (usage_drop_ended(all))
		; /* each time there are fewer */
}

/* The kernel adds the whole life of a child to its parent when it is waited for. What was counted while it lived is noted
 * at the nearest of those above it that still lives. */
static void usage_note_gone(const struct usage *usage, const usage_processes *now)
{
	for (size_t i = 0; i < usage->seen.len; i++) {
		const struct usage_process *child = &usage->seen.at[i], *above = child;
		if (usage_find(now, child))
			continue;
		while ((above = usage_at(&usage->seen, above->parent)) && !usage_find(now, above))
			;
		struct usage_process *parent = above ? usage_at(now, above->pid) : NULL;
		for (size_t k = 0; parent && k < USAGE_COUNTS; k++)
			parent->gone[k] += child->counts[k];
	}
}

struct usage_sum {
	uint64_t ticks, pages, threads, busiest_ticks;
	uint64_t blocked, stopped, ready, counts[USAGE_COUNTS];
	bool calls_unknown; /* of one of them at least */
};

/* What is there, and what was used since the last look: a process that came meanwhile has used all of it since. */
static void usage_add_up(const struct usage *usage, usage_processes *now, struct usage_sum *sum)
{
	usage_note_gone(usage, now);
	for (size_t i = 0; i < now->len; i++) {
		struct usage_process *p = &now->at[i];
		const struct usage_process *before = usage_find(&usage->seen, p);
		uint64_t busy = p->own_ticks - (before ? before->own_ticks : 0);
		sum->ticks += p->ticks;
		sum->pages += p->pages;
		sum->threads += p->threads;
		sum->blocked += p->state == 'D';
		sum->stopped += p->state == 'T' || p->state == 't';
		sum->ready += p->state == 'R';
		for (size_t k = 0; k < USAGE_COUNTS; k++) {
			uint64_t counted = (before ? before->counts[k] : 0) + p->gone[k];
			sum->counts[k] += p->counts[k] > counted ? p->counts[k] - counted : 0;
		}
		sum->calls_unknown |= !p->knows_io || (before && !before->knows_io);
		if (busy > sum->busiest_ticks)
			sum->busiest_ticks = busy;
	}
}

static void usage_fill(const struct usage *usage, int64_t now_ms, double cpu_ms, const struct usage_sum *sum,
		       struct sample *sample)
{
	double passed_ms = (double)(now_ms - usage->seen_ms), tick_ms = 1000.0 / (double)sysconf(_SC_CLK_TCK);
	/* What ends has given its memory back already: nothing is known of the task's. */
	sample->host[SAMPLE_HOST_MEMORY] = sum->pages ? (double)sum->pages * (double)sysconf(_SC_PAGESIZE) : NAN;
	sample->host[SAMPLE_HOST_THREADS] = (double)sum->threads;
	sample->host[SAMPLE_HOST_BLOCKED] = (double)sum->blocked;
	sample->host[SAMPLE_HOST_STOPPED] = (double)sum->stopped;
	sample->host[SAMPLE_HOST_READY] = (double)sum->ready;
	if (!usage->seen_ms || passed_ms <= 0)
		return;
	double used = cpu_ms - usage->cpu_ms;
	sample->host[SAMPLE_HOST_CPU] = used > 0 ? used / passed_ms : 0;
	sample->host[SAMPLE_HOST_BUSIEST] = (double)sum->busiest_ticks * tick_ms / passed_ms;
	sample->host[SAMPLE_HOST_READ] = (double)sum->counts[USAGE_READ] * 1000 / passed_ms;
	sample->host[SAMPLE_HOST_WRITE] = (double)sum->counts[USAGE_WRITE] * 1000 / passed_ms;
	sample->host[SAMPLE_HOST_FAULTS] = (double)sum->counts[USAGE_FAULTS] * 1000 / passed_ms;
	if (!sum->calls_unknown)
		sample->host[SAMPLE_HOST_CALLS] = (double)sum->counts[USAGE_CALLS] * 1000 / passed_ms;
}

static void usage_add(struct cost *cost, enum figure figure, uint64_t more)
{
	cost_set(cost, figure, (cost_has(cost, figure) ? cost_get(cost, figure) : 0) + (double)more);
}

void usage_ended(struct usage *usage, bool helper, const struct rusage *used)
{
	int64_t *peak = helper ? &usage->helper_kib : &usage->ended_kib;
	if (helper)
		usage->helper_ms += usage_rusage_ms(used);
	if (used->ru_maxrss > *peak)
		*peak = used->ru_maxrss;
}

/* Was the process `s` started by `top`, directly or not, as far as was seen? */
static bool usage_is_below(const struct usage *usage, const struct usage_process *s, uint64_t top)
{
	while (s && s->parent != top)
		s = usage_at(&usage->seen, s->parent);
	return s != NULL;
}

/* Is it still there? Then nothing waited for it, and what it used is its own. */
static bool usage_is_there(const struct usage_process *s)
{
	struct usage_process now;
	return usage_read_stat(s->pid, &now) && now.started == s->started;
}

void usage_take_ended(const struct usage *usage, int64_t pid, struct usage_traffic used, struct cost *cost)
{
	uint64_t read = 0, written = 0;
	for (size_t i = 0; i < usage->seen.len; i++) {
		const struct usage_process *s = &usage->seen.at[i];
		if (s->pid != (uint64_t)pid && (!usage_is_below(usage, s, (uint64_t)pid) || usage_is_there(s)))
			continue;
		read += s->counts[USAGE_READ];
		written += s->counts[USAGE_WRITE];
	}
	usage_add(cost, FIGURE_READ, used.read_bytes > read ? used.read_bytes - read : 0);
	usage_add(cost, FIGURE_WRITE, used.write_bytes > written ? used.write_bytes - written : 0);
}

void usage_read_ended(const struct usage *usage, pid_t pid, struct cost *cost)
{
	struct usage_process process;
	if (!usage_read_stat((uint64_t)pid, &process))
		return;
	usage_read_io(&process);
	if (process.knows_io)
		usage_take_ended(usage, pid,
				 (struct usage_traffic){process.counts[USAGE_READ], process.counts[USAGE_WRITE]}, cost);
}

/* The kernel keeps one peak for all ended children: it may be the helper's. */
static void usage_raise_ended(const struct usage *usage, const struct rusage *ended, struct cost *cost)
{
	int64_t kib = ended->ru_maxrss > usage->helper_kib ? ended->ru_maxrss : usage->ended_kib;
	cost_raise(cost, FIGURE_MEMORY, (double)kib * 1024);
}

/* "Pss: 123 kB" of smaps_rollup; what is resident where the kernel does not say. */
static double usage_own_bytes(const struct usage_process *process)
{
	char path[64];
	struct buf text = buf_make(4096);
	double bytes = (double)process->pages * (double)sysconf(_SC_PAGESIZE);
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/smaps_rollup", process->pid);
	const char *pss = fs_read(path, 4096, &text, NULL) == 0 ? strstr(buf_text(&text), "\nPss:") : NULL;
	if (pss) {
		uint64_t kib;
		pss += 5 + strspn(pss + 5, " \t");
		if (num_parse_unsigned(pss, strcspn(pss, " "), UINT64_MAX / 2048, &kib) == 0)
			bytes = (double)kib * 1024;
	}
	buf_free(&text);
	return bytes;
}

static double usage_thread_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

/* What the processes have together, if it may be more than the peak so far; else 0. Workers that were forked share what
 * their parent has. To divide shared pages takes milliseconds for each gigabyte of each process, so it is done when the
 * sum has grown, and once in a while. */
static double usage_together(struct usage *usage, const usage_processes *all, double resident, int64_t now_ms,
			     const struct cost *cost)
{
	double own = 0, begun_ms = usage_thread_ms();
	if (all->len < 2)
		return resident;
	if (cost_has(cost, FIGURE_MEMORY) && resident <= cost_get(cost, FIGURE_MEMORY))
		return 0;
	bool grown = resident >= USAGE_LOOK_GROWTH * usage->looked_bytes;
	double wait_ms = usage->look_cpu_ms / (grown ? 2 * USAGE_LOOK_SHARE : USAGE_LOOK_SHARE);
	if (usage->looked_bytes > 0 && (double)(now_ms - usage->looked_ms) < fmax(wait_ms, grown ? 0 : EXEC_BEAT_MS))
		return 0;
	for (size_t i = 0; i < all->len; i++)
		own += usage_own_bytes(&all->at[i]);
	usage->looked_bytes = resident;
	usage->looked_ms = now_ms;
	usage->look_cpu_ms = usage->looking_ms = usage_thread_ms() - begun_ms;
	return own;
}

void usage_sample(struct usage *usage, int64_t now_ms, struct cost *cost, struct sample *sample)
{
	usage_processes now = {0};
	struct usage_sum sum = {0};
	struct rusage ended;

	usage_look_whole(usage, &now);
	usage_add_up(usage, &now, &sum);
	getrusage(RUSAGE_CHILDREN, &ended);
	double cpu_ms = usage_rusage_ms(&ended) - usage->helper_ms +
		(double)(sum.ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK));
	cost_set(cost, FIGURE_CPU, cpu_ms);
	usage->looking_ms = 0;
	double resident = (double)sum.pages * (double)sysconf(_SC_PAGESIZE);
	cost_raise(cost, FIGURE_MEMORY, usage_together(usage, &now, resident, now_ms, cost));
	usage_raise_ended(usage, &ended, cost);
	usage_add(cost, FIGURE_READ, sum.counts[USAGE_READ]);
	usage_add(cost, FIGURE_WRITE, sum.counts[USAGE_WRITE]);
	sample->host[SAMPLE_HOST_PROCESSES] = (double)now.len;
	usage_fill(usage, now_ms, cpu_ms, &sum, sample);
	free(usage->seen.at);
	usage->seen = now;
	usage->seen_ms = now_ms;
	usage->cpu_ms = cpu_ms;
}

bool usage_has(const struct usage *usage, int64_t pid)
{
	struct usage_process key = {.pid = (uint64_t)pid};
	return pid > 0 && usage->seen.len && bsearch(&key, usage->seen.at, usage->seen.len, sizeof(key), usage_compare);
}

void usage_free(struct usage *usage)
{
	free(usage->seen.at);
	usage->seen = (usage_processes){0};
}

double usage_memory_bytes(const struct usage *usage, double limit_bytes)
{
	usage_processes all = {0};
	double resident = 0, own = 0;
	usage_look(usage, &all);
	for (size_t i = 0; i < all.len; i++)
		resident += (double)all.at[i].pages * (double)sysconf(_SC_PAGESIZE);
	/* Workers that were forked share what their parent has: its pages must not count once for each. */
	for (size_t i = 0; resident > limit_bytes && i < all.len; i++)
		own += usage_own_bytes(&all.at[i]);
	free(all.at);
	return resident > limit_bytes ? own : resident;
}

void usage_final(const struct usage *usage, struct cost *cost)
{
	struct rusage ended;
	getrusage(RUSAGE_CHILDREN, &ended);
	cost_raise(cost, FIGURE_CPU, usage_rusage_ms(&ended) - usage->helper_ms);
	usage_raise_ended(usage, &ended, cost);
}
