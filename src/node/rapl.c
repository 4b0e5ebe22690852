/* See rapl.h. */
#include "node/rapl.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"

#include <dirent.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Machines with many cores have long lists of interrupts. */
#define RAPL_STAT_BYTES (1u << 20)

/* NAN where it cannot be read. */
static double rapl_number(const char *path)
{
	struct buf text = buf_make(64);
	double value = NAN;
	if (fs_read(path, 64, &text, NULL) < 0 ||
	    num_parse_real(buf_text(&text), strcspn(buf_text(&text), "\n"), &value) < 0)
		value = NAN;
	buf_free(&text);
	return value;
}

/* "package-0" and "dram" count. "core" and "uncore" are parts of a package; "psys" is more than both. */
static bool rapl_names_zone(const char *dir, bool *ret_dram)
{
	struct buf text = buf_make(64);
	char *path = mem_printf("%s/name", dir);
	bool counts = false;
	if (fs_read(path, 64, &text, NULL) == 0) {
		*ret_dram = text_starts(buf_text(&text), "dram");
		counts = *ret_dram || text_starts(buf_text(&text), "package");
	}
	free(path);
	buf_free(&text);
	return counts;
}

static void rapl_add(struct rapl *rapl, const char *root, const char *name)
{
	struct rapl_zone zone = {0};
	char *dir = mem_printf("%s/%s", root, name), *range = mem_printf("%s/max_energy_range_uj", dir);
	zone.path = mem_printf("%s/energy_uj", dir);
	zone.before_uj = rapl_number(zone.path);
	zone.range_uj = rapl_number(range);
	if (rapl->count < RAPL_ZONES_MAX && rapl_names_zone(dir, &zone.dram) && !isnan(zone.before_uj))
		rapl->zones[rapl->count++] = zone;
	else
		free(zone.path);
	free(range);
	free(dir);
}

size_t rapl_open(struct rapl *rapl, const char *root)
{
	*rapl = (struct rapl){0};
	DIR *list = opendir(root);
	struct dirent *entry;
	/* intel-rapl:0, intel-rapl:0:1, …; also on AMD. intel-rapl-mmio has the same counters again. */
	while (list && (entry = readdir(list)))
		if (text_starts(entry->d_name, "intel-rapl:"))
			rapl_add(rapl, root, entry->d_name);
	if (list)
		closedir(list);
	if (rapl->count)
		(void)rapl_share(rapl, 0);
	return rapl->count;
}

void rapl_read(struct rapl *rapl, double *ret_package_j, double *ret_dram_j)
{
	*ret_package_j = *ret_dram_j = NAN;
	for (size_t i = 0; i < rapl->count; i++) {
		struct rapl_zone *zone = &rapl->zones[i];
		double now = rapl_number(zone->path), *ret = zone->dram ? ret_dram_j : ret_package_j;
		double used = now - zone->before_uj + (now < zone->before_uj ? zone->range_uj : 0);
		if (isnan(used) || used < 0)
			continue;
		zone->before_uj = now;
		*ret = (isnan(*ret) ? 0 : *ret) + used / 1e6;
	}
}

uint64_t rapl_parse_busy(const char *text)
{
	uint64_t sum = 0;
	const char *p = text_starts(text, "cpu ") ? text + 4 : "";
	for (int field = 0; field < 8 && *p; field++) { /* user nice system idle iowait irq softirq steal */
		uint64_t ticks;
		p += strspn(p, " ");
		size_t n = strcspn(p, " \n");
		if (num_parse_unsigned(p, n, UINT64_MAX / 16, &ticks) < 0)
			break;
		if (field != 3 && field != 4)
			sum += ticks;
		p += n;
	}
	return sum;
}

double rapl_share(struct rapl *rapl, double cpu_ms)
{
	struct buf text = buf_make(RAPL_STAT_BYTES);
	double share = NAN;
	if (fs_read("/proc/stat", RAPL_STAT_BYTES, &text, NULL) == 0) {
		uint64_t busy = rapl_parse_busy(buf_text(&text));
		double all_ms = (double)(busy - rapl->busy_ticks) * 1000 / (double)sysconf(_SC_CLK_TCK);
		if (rapl->busy_ticks && all_ms > 0)
			share = (cpu_ms - rapl->cpu_ms) / all_ms;
		if (!isnan(share) || !rapl->busy_ticks) { /* within one tick there is nothing to divide yet */
			rapl->busy_ticks = busy;
			rapl->cpu_ms = cpu_ms;
		}
	}
	buf_free(&text);
	return isnan(share) ? share : share < 0 ? 0 : share > 1 ? 1 : share;
}

void rapl_close(struct rapl *rapl)
{
	for (size_t i = 0; i < rapl->count; i++)
		free(rapl->zones[i].path);
	rapl->count = 0;
}
