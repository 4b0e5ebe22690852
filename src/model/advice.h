/* What would be cheaper next time: a few rules over what the tasks of an experiment asked for and what they used. Pure. */
#ifndef MODEL_ADVICE_H
#define MODEL_ADVICE_H

#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>

/* Fewer ended tasks are no evidence. */
#define ADVICE_TASKS_LEAST 3

/* NAN and 0: not known, or not asked for. */
struct advice_facts {
	size_t tasks; /* that ended well */
	int64_t cpus, memory_bytes, time_ms; /* what each asked for */
	double gpus;
	double longest_ms, peak_bytes; /* the most of any task */
	double cpu_cores, busiest_cores; /* means over the samples: all processes, the busiest process */
	double most_cores; /* the largest mean of a task */
	double gpu_util_pct, gpu_peak_bytes; /* mean; the most of any task */
	double gpu_slowed; /* part of the time in which the GPU was slowed down */
	double card_bytes; /* memory of one GPU of the machine */
	int64_t out_of_memory, out_of_time; /* attempts that ended so: those that ended well are no evidence for less */
};

/* One advice. `key` and `value` are what to write in the experiment file; NULL where it is nothing to write there. */
struct advice {
	char *text;
	const char *key; /* of `resources` */
	char *value;
};
typedef VEC(struct advice) advice_list;

/* Adds what follows from the facts; nothing where they are no evidence. */
void advice_find(const struct advice_facts *facts, advice_list *ret);
void advice_free(advice_list *list);

#endif
