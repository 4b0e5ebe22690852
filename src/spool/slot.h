/* The slot: what the local backend gave an attempt on this machine. */
#ifndef SPOOL_SLOT_H
#define SPOOL_SLOT_H

#include "base/error.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* 64 GPUs with names of 63 characters: a MIG slice has one of 40. */
#define SPOOL_SLOT_GPUS_BYTES 4096

struct spool_slot {
	int64_t cpus, memory_bytes;
	int64_t time_ms; /* limit that the runner enforces; 0: none */
	int64_t signal_before_ms; /* before that limit, checkpoint_signal is sent; 0: none */
	int checkpoint_signal;
	char cores[1024]; /* "0,3": of its own, for a task that asks for cpus; "": any that the daemon may use */
	char gpus[SPOOL_SLOT_GPUS_BYTES]; /* "0,1"; "": none */
	int64_t gpu_share; /* thousandths of the one GPU in gpus, which others have the rest of; 0: all of it */
	bool mps; /* they share it by NVIDIA MPS */
	int64_t gpus_hidden; /* GPUs of this machine that it does not see, because it asked for none */
};

/* BATCH_DIR/INDEX.slot, before the runner starts. */
int spool_slot_write(const char *batch_dir, uint32_t index, const struct spool_slot *slot, struct error *err) MUST_USE;
/* Returns false, and one CPU, if there is no slot: the attempt runs on a cluster. */
bool spool_slot_read(const char *batch_dir, uint32_t index, struct spool_slot *ret);
/* Adds its cores to the set; false where it has none. */
bool spool_slot_add_cores(const struct spool_slot *slot, cpu_set_t *set);
/* The text of a slot; false where it is none. */
bool spool_slot_parse(const char *text, size_t len, struct spool_slot *ret);

#endif
