/* One pass over /proc finds the descendants: the runner is their subreaper, so processes whose parent has ended are
 * found too. */
#include "node/usage.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/num.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct usage_process {
	uint64_t pid, parent, ticks, pages;
	bool ours;
};

typedef VEC(struct usage_process) usage_processes;

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
	p += 4; /* ") S " */
	for (int i = 4; i < 25 && *p; i++) {
		size_t n = strcspn(p, " \n");
		if (num_parse_unsigned(p, n, UINT64_MAX, &field[i]) < 0)
			field[i] = 0; /* tpgid and nice may be negative */
		p += n + (p[n] != 0);
	}
	ret->parent = field[4];
	ret->ticks = field[14] + field[15] + field[16] + field[17];
	ret->pages = field[24];
	return true;
}

static void usage_read_processes(usage_processes *all)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		struct usage_process process = {0};
		char path[64];
		struct buf text = buf_make(4096);
		if (num_parse_unsigned(entry->d_name, strlen(entry->d_name), INT32_MAX, &process.pid) < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
		if (fs_read(path, 4096, &text, NULL) == 0 && usage_parse_stat(buf_text(&text), &process))
			vec_push(all, process);
		buf_free(&text);
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
static void usage_mark(usage_processes *all)
{
	bool changed = true;
	if (all->len)
		qsort(all->at, all->len, sizeof(*all->at), usage_compare);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < all->len; i++) {
			struct usage_process *p = &all->at[i], key = {.pid = p->parent};
			if (p->ours)
				continue;
			const struct usage_process *parent = bsearch(&key, all->at, all->len, sizeof(*all->at),
								     usage_compare);
			p->ours = p->parent == (uint64_t)getpid() || (parent && parent->ours);
			changed |= p->ours;
		}
	}
}

void usage_sample(struct cost *cost)
{
	usage_processes all = {0};
	uint64_t ticks = 0, pages = 0;
	struct rusage ended;

	usage_read_processes(&all);
	usage_mark(&all);
	for (size_t i = 0; i < all.len; i++) {
		ticks += all.at[i].ours ? all.at[i].ticks : 0;
		pages += all.at[i].ours ? all.at[i].pages : 0;
	}
	free(all.at);
	getrusage(RUSAGE_CHILDREN, &ended);
	cost_set(cost, FIGURE_CPU, usage_rusage_ms(&ended) + (double)(ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK)));
	cost_raise(cost, FIGURE_MEMORY, (double)pages * (double)sysconf(_SC_PAGESIZE));
	cost_raise(cost, FIGURE_MEMORY, (double)ended.ru_maxrss * 1024);
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

double usage_memory_bytes(double limit_bytes)
{
	usage_processes all = {0};
	double resident = 0, own = 0;
	usage_read_processes(&all);
	usage_mark(&all);
	for (size_t i = 0; i < all.len; i++)
		resident += all.at[i].ours ? (double)all.at[i].pages * (double)sysconf(_SC_PAGESIZE) : 0;
	/* Workers that were forked share what their parent has: its pages must not count once for each. */
	for (size_t i = 0; resident > limit_bytes && i < all.len; i++)
		own += all.at[i].ours ? usage_own_bytes(&all.at[i]) : 0;
	free(all.at);
	return resident > limit_bytes ? own : resident;
}

void usage_final(struct cost *cost)
{
	struct rusage ended;
	getrusage(RUSAGE_CHILDREN, &ended);
	cost_raise(cost, FIGURE_CPU, usage_rusage_ms(&ended));
	cost_raise(cost, FIGURE_MEMORY, (double)ended.ru_maxrss * 1024);
}
