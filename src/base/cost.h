/* What an attempt used: a list of figures, each known or not. Journal, backends, store, REST and the pages all take
 * the figures from the list below. A new figure is a row there and the code that measures it. */
#ifndef BASE_COST_H
#define BASE_COST_H

#include <stdbool.h>
#include <stdint.h>

struct json;

/* COUNTED(NAME, key, column, with, per, unit, label, source): a figure that SQL sums, sorts or limits by. It has its
 * own columns: `column` in task, attempt and tally, and `with` in tally, the number of tasks that know it. A task has
 * the sum of its attempts, an experiment the sum of its tasks. A new one needs a migration.
 *
 * OTHER(NAME, key, over, unit, label, source): any other figure. It is a member of the JSON column `figures` of task
 * and attempt. A task has what the SQL function `over` makes of its attempts: sum, max, min or avg.
 *
 * key: the member in REST. column: the member in the journal too; its value is `per` times that of the key. The key is
 * also the member in the journal where there is no column. unit: s, B, J, W or % are shown as people write them; any
 * other is shown as it is. label: for people. source: where the figure comes from. */
#define COST_FIGURES(COUNTED, OTHER)                                                                                   \
	COUNTED(WALL, "wall_s", "wall_ms", "with_wall", 1000, "s", "time used", "the runner's clock, or accounting")   \
	COUNTED(CPU, "cpu_s", "cpu_ms", "with_cpu", 1000, "s", "CPU time", "all processes of the script")              \
	COUNTED(GPU, "gpu_s", "gpu_ms", "with_gpu", 1000, "s", "GPU time", "the time used, for each GPU")              \
	OTHER(MEMORY, "max_rss_bytes", max, "B", "most memory", "all processes of the script")                         \
	COUNTED(ENERGY, "energy_j", "energy_j", "with_energy", 1, "J", "energy", "see energy_source")                  \
	OTHER(ENERGY_GPU, "energy_gpu_j", sum, "J", "GPU energy", "see energy_source")                                 \
	OTHER(ENERGY_PACKAGE, "energy_package_j", sum, "J", "CPU energy", "RAPL, package")                             \
	OTHER(ENERGY_DRAM, "energy_dram_j", sum, "J", "DRAM energy", "RAPL, DRAM")                                     \
	OTHER(ENERGY_IDLE, "energy_idle_j", sum, "J", "idle energy", "GPU power at 0 % utilisation, times the time")   \
	OTHER(ENERGY_ESTIMATED, "energy_estimated_j", sum, "J", "estimated energy", "what was split with others")      \
	OTHER(ENERGY_NODE, "energy_node_j", sum, "J", "node energy", "Slurm accounting, whole node")                   \
	OTHER(GPU_UTIL, "gpu_util_pct", avg, "%", "GPU use", "mean over the samples")                                  \
	OTHER(GPU_MEMORY, "gpu_max_memory_bytes", max, "B", "GPU memory", "processes of the script")                   \
	OTHER(GPU_SLOWED, "gpu_slowed_s", sum, "s", "GPU slowed", "for power or temperature, NVML")                    \
	OTHER(READ, "read_bytes", sum, "B", "read", "from storage, by all processes")                                  \
	OTHER(WRITE, "write_bytes", sum, "B", "written", "to storage, by all processes")

#define COST_ENUM(name, ...) FIGURE_##name,
enum figure { COST_FIGURES(COST_ENUM, COST_ENUM) FIGURE_COUNT };

struct cost_figure {
	const char *key, *stored; /* in REST; in the journal and the database */
	bool counted; /* `stored` is a column */
	double per; /* a value as it is stored, divided by this, is the value in REST */
	const char *unit, *label, *source;
};
extern const struct cost_figure cost_figures[FIGURE_COUNT];

/* Values are as they are stored: times in milliseconds. A zeroed struct knows nothing. */
struct cost {
	uint64_t known; /* a bit for each figure */
	double value[FIGURE_COUNT];
	const char *source; /* of the energy; NULL */
};

/* The largest figure. Up to here a double is exact for whole numbers; as milliseconds it is 285,000 years. */
#define COST_MOST 9007199254740992.0

static inline bool cost_has(const struct cost *cost, enum figure figure)
{
	return cost->known >> figure & 1;
}

/* NAN: not known. */
static inline double cost_get(const struct cost *cost, enum figure figure)
{
	return cost_has(cost, figure) ? cost->value[figure] : __builtin_nan("");
}

/* An impossible value (negative, NAN, above COST_MOST) makes the figure unknown. */
void cost_set(struct cost *cost, enum figure figure, double value);
/* Keeps the larger of the two. An impossible value changes nothing. */
void cost_raise(struct cost *cost, enum figure figure, double value);

/* Writes a value; whole numbers without a fraction or an exponent. */
void cost_write_value(double value, struct json *out);
/* Writes what is known as members of the open map, as the journal has them. */
void cost_write(const struct cost *cost, struct json *out);
/* Writes the table for other programs: [{"key","label","unit","source"}, …]. */
void cost_write_figures(struct json *out);

#endif
