/* The words for a task that waits: see local_wait.h. */
#include "backend/local_wait.h"

#include "base/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* More names than this do not help a reader. */
#define WAIT_NAMED 3
#define WAIT_AMOUNT_CHARS 32

/* A thing that the machine has so and so much of. */
struct wait_thing {
	const char *one, *many;
	size_t member; /* of struct local_hold */
	int64_t wanted, has;
};

static int64_t wait_held(const struct local_hold *hold, const struct wait_thing *thing)
{
	return *(const int64_t *)((const char *)hold + thing->member);
}

static void wait_amount(const struct wait_thing *thing, int64_t amount, char text[static WAIT_AMOUNT_CHARS])
{
	if (thing->member == offsetof(struct local_hold, memory_bytes))
		text_format_bytes(amount, text, WAIT_AMOUNT_CHARS);
	else if (thing->member == offsetof(struct local_hold, gpus))
		snprintf(text, WAIT_AMOUNT_CHARS, "%g", (double)amount / LOCAL_GPU_WHOLE);
	else
		snprintf(text, WAIT_AMOUNT_CHARS, "%" PRId64, amount);
}

static int wait_by_held(const void *a, const void *b, void *ctx)
{
	const struct local_hold *first = a, *second = b;
	int64_t more = wait_held(second, ctx) - wait_held(first, ctx);
	int64_t older = first->experiment - second->experiment;
	return more ? (more > 0 ? 1 : -1) : older > 0 ? 1 : -1;
}

void local_hold_add(struct local_holds *holds, int64_t experiment, const struct spool_slot *slot)
{
	size_t i = 0;
	while (i < holds->list.len && holds->list.at[i].experiment != experiment)
		i++;
	if (i == holds->list.len)
		vec_push(&holds->list, ((struct local_hold){.experiment = experiment}));
	struct local_hold *hold = &holds->list.at[i];
	hold->cpus += slot->cpus;
	hold->memory_bytes += slot->memory_bytes;
	int64_t gpus = *slot->gpus != 0;
	for (const char *p = slot->gpus; *p; p++)
		gpus += *p == ',';
	hold->gpus += gpus * (slot->gpu_share ? slot->gpu_share : LOCAL_GPU_WHOLE);
}

static char *wait_words(struct wait_thing *thing, struct local_hold *holds, size_t count, int64_t experiment)
{
	struct buf out = buf_make(4096);
	char amount[WAIT_AMOUNT_CHARS], all[WAIT_AMOUNT_CHARS];
	size_t named = 0, others = 0;
	wait_amount(thing, thing->wanted, amount);
	wait_amount(thing, thing->has, all);
	buf_addf(&out, "waits for %s %s", amount,
		 thing->wanted == (thing->member == offsetof(struct local_hold, gpus) ? LOCAL_GPU_WHOLE : 1)
			 ? thing->one
			 : thing->many);
	qsort_r(holds, count, sizeof(*holds), wait_by_held, thing);
	for (size_t i = 0; i < count && wait_held(&holds[i], thing) > 0; i++) {
		if (named == WAIT_NAMED) {
			others++;
			continue;
		}
		wait_amount(thing, wait_held(&holds[i], thing), amount);
		buf_add_text(&out, named++ ? ", " : ": ");
		if (holds[i].experiment == experiment)
			buf_add_text(&out, "its own experiment");
		else
			buf_addf(&out, "e%" PRId64, holds[i].experiment);
		buf_addf(&out, " has %s of %s", amount, all);
	}
	if (others)
		buf_addf(&out, ", %zu other%s the rest", others, others == 1 ? " has" : "s have");
	return buf_take(&out);
}

char *local_wait_why(const struct local_machine *m, bool gpus_known, struct local_holds *holds,
		     const struct backend_resources *wanted, int64_t experiment)
{
	struct wait_thing things[] = {
		{"GPU", "GPUs", offsetof(struct local_hold, gpus),
		 wanted->gpu_share ? wanted->gpu_share : wanted->gpus * LOCAL_GPU_WHOLE,
		 (int64_t)m->gpu_count * LOCAL_GPU_WHOLE},
		{"CPU", "CPUs", offsetof(struct local_hold, cpus), local_machine_cpus(wanted), m->cpus},
		{"of memory", "of memory", offsetof(struct local_hold, memory_bytes), wanted->memory_bytes,
		 m->memory_free_bytes},
	};
	if (wanted->gpus > 0 && !gpus_known)
		return mem_strdup("waits for nvidia-smi to list the GPUs");
	for (size_t t = 0; t < COUNT_OF(things); t++) {
		int64_t held = 0;
		for (size_t i = 0; i < holds->list.len; i++)
			held += wait_held(&holds->list.at[i], &things[t]);
		/* What fits the machine runs alone, whatever others use of the memory. */
		if (things[t].wanted > 0 && held > 0 && held + things[t].wanted > things[t].has)
			return wait_words(&things[t], holds->list.at, holds->list.len, experiment);
	}
	return NULL;
}
