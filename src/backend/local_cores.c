/* See local_cores.h. */
#include "backend/local_cores.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CORES_STAT_BYTES (4u << 20)

void local_cores_open(struct local_cores *cores)
{
	*cores = (struct local_cores){0};
	CPU_ZERO(&cores->own);
	if (sched_getaffinity(0, sizeof(cores->own), &cores->own) < 0)
		CPU_ZERO(&cores->own);
	local_cores_look(cores);
}

/* The number at *at, which is moved behind it; false where there is none. */
static bool cores_number(const char **at, uint64_t *ret)
{
	*at += strspn(*at, " ");
	size_t len = strspn(*at, "0123456789");
	if (num_parse_unsigned(*at, len, INT64_MAX, ret) < 0)
		return false;
	*at += len;
	return true;
}

/* "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL …": all but IDLE and IOWAIT is use. */
static void cores_read_line(struct local_cores *cores, const char *line)
{
	uint64_t core, value, used = 0;
	const char *at = line + strlen("cpu");
	if (*at < '0' || *at > '9' || !cores_number(&at, &core) || core >= CPU_SETSIZE)
		return;
	for (int i = 0; i < 8 && cores_number(&at, &value); i++)
		if (i != 3 && i != 4)
			used += value;
	cores->lately[core] = used > cores->total[core] ? used - cores->total[core] : 0;
	cores->total[core] = used;
}

void local_cores_read(struct local_cores *cores, const char *stat)
{
	for (const char *line = stat; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, "cpu", 3) == 0)
			cores_read_line(cores, line);
}

void local_cores_look(struct local_cores *cores)
{
	struct buf text = buf_make(CORES_STAT_BYTES);
	int64_t now = clock_mono_ms();
	if (cores->looked_ms && now - cores->looked_ms < LOCAL_CORES_LOOK_MS)
		return;
	cores->looked_ms = now;
	if (fs_read("/proc/stat", CORES_STAT_BYTES, &text, NULL) == 0)
		local_cores_read(cores, buf_text(&text));
	buf_free(&text);
}

/* The least used core of the set; -1: it is empty. */
static int cores_least(const struct local_cores *cores, const cpu_set_t *set)
{
	int best = -1;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set) && (best < 0 || cores->lately[i] < cores->lately[best]))
			best = i;
	return best;
}

void local_cores_choose(const struct local_cores *cores, const cpu_set_t *taken, int64_t count, char *list, size_t size)
{
	cpu_set_t left, chosen;
	struct buf text = buf_make(size - 1);
	CPU_ZERO(&chosen);
	CPU_AND(&left, &cores->own, taken);
	CPU_XOR(&left, &left, &cores->own);
	bool enough = CPU_COUNT(&left) >= count;
	for (int64_t i = 0; enough && i < count; i++) {
		int core = cores_least(cores, &left);
		CPU_CLR(core, &left);
		CPU_SET(core, &chosen);
	}
	for (int i = 0; enough && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &chosen))
			buf_addf(&text, "%s%d", text.len ? "," : "", i);
	snprintf(list, size, "%s", text.full ? "" : buf_text(&text));
	buf_free(&text);
}
