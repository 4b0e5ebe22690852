/* The energy counters of CPU packages and memory (RAPL), in the kernel's folder /sys/class/powercap. Most systems let
 * only root read them: not measured is normal. */
#ifndef NODE_RAPL_H
#define NODE_RAPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAPL_ZONES_MAX 32
#define RAPL_ROOT "/sys/class/powercap"

struct rapl_zone {
	char *path; /* of energy_uj */
	double before_uj, range_uj; /* it begins again at 0 after the range */
	bool dram;
};

struct rapl {
	struct rapl_zone zones[RAPL_ZONES_MAX];
	size_t count;
	uint64_t busy_ticks; /* of all processes on this machine, at the last reading */
	double cpu_ms; /* of ours */
};

/* Finds the zones that can be read, and reads them. No zones: 0. */
size_t rapl_open(struct rapl *rapl, const char *root);
/* What was used since the last call, in joules; NAN where there is no such zone. */
void rapl_read(struct rapl *rapl, double *ret_package_j, double *ret_dram_j);
/* Our part of the CPU time that this machine spent since the last call; NAN: not known. cpu_ms: ours so far. */
double rapl_share(struct rapl *rapl, double cpu_ms);
/* The busy ticks in the text of /proc/stat. */
uint64_t rapl_parse_busy(const char *text);
void rapl_close(struct rapl *rapl);

#endif
