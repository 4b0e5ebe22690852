/* Judges whether a run still makes progress, from the times of its metrics and from its samples. A silence that is much
 * longer than any before counts only together with what its processes and GPUs do meanwhile. Pure: no clock, no files;
 * times are milliseconds of any one clock. */
#ifndef MODEL_STALL_H
#define MODEL_STALL_H

#include "base/sample.h"
#include "model/rhythm.h"

/* KIND(NAME, word, least_s, sure, text). word: in the journal. least_s: a shorter silence never counts. sure: it says
 * enough to end a task for it, if the user wants that. text: what it means, for people. */
#define STALL_KINDS(KIND)                                                                                              \
	KIND(STOPPED, "stopped", 30, true, "a process of it is stopped (state T); `kill -CONT` lets it go on")         \
	KIND(BLOCKED, "blocked", 60, true, "it waits for a disk or a file system (state D)")                           \
	KIND(IDLE, "idle", 120, true, "it does nothing: a deadlock, or it waits for data or the network")              \
	KIND(COLLECTIVE, "collective", 120, true,                                                                      \
	     "the GPU is busy at little power: it waits for another process, as in a collective operation")            \
	KIND(SPINNING, "spinning", 300, true, "one core spins and nothing else works: a livelock, or slow loading")    \
	KIND(CHURNING, "churning", 600, false,                                                                         \
	     "it computes as before but reads, prints and allocates nothing: a livelock, or a step that takes far "    \
	     "longer")                                                                                                 \
	KIND(QUIET, "quiet", 1800, false, "it is as busy as before: a livelock, or a step that takes far longer")

#define STALL_ENUM(name, ...) STALL_##name,
enum stall_kind { STALL_NONE, STALL_KINDS(STALL_ENUM) STALL_KIND_COUNT };

struct stall_kind_row {
	const char *word;
	int64_t least_ms;
	bool sure;
	const char *text;
};
extern const struct stall_kind_row stall_kinds[STALL_KIND_COUNT]; /* [STALL_NONE] is empty */

/* When a silence is too long. */
struct stall_rule {
	double times; /* so many times the longest pause before */
	int64_t after_ms; /* after this time, whatever came before; 0: by `times` */
};
#define STALL_TIMES 3.0

#define STALL_USUAL_MOST 64
#define STALL_NEWEST 3

/* The figures of one sample that matter. NAN: not known. */
struct stall_figures {
	double cpu, busiest, util, power, traffic; /* util: of the busiest GPU; power: of all GPUs */
	double blocked, stopped, processes, ready;
	double faults, calls; /* a second: new pages of memory, calls to read and write */
};

struct stall {
	struct stall_rule rule;
	int64_t begun_ms;
	int64_t row_ms[RHYTHM_STEPS_MOST + 1]; /* when metrics came, the newest last */
	size_t row_count; /* of those */
	size_t pauses; /* between metrics, so far */
	int64_t longest_ms; /* of them */
	struct stall_figures usual[STALL_USUAL_MOST]; /* while metrics came, in turn */
	size_t usual_count; /* so far */
	struct stall_figures newest[STALL_NEWEST]; /* since the last metrics, in turn */
	size_t newest_count; /* so far */
};

void stall_init(struct stall *stall, const struct stall_rule *rule, int64_t now_ms);
/* Metrics have come. */
void stall_row(struct stall *stall, int64_t now_ms);
void stall_sample(struct stall *stall, const struct sample *sample);
/* What is wrong now; STALL_NONE: nothing, as far as can be told. */
enum stall_kind stall_judge(const struct stall *stall, int64_t now_ms);
/* May a task be ended because of it? One that is as busy as before may, only if the user said after how long. */
bool stall_is_sure(const struct stall *stall, enum stall_kind kind);
/* Adds the evidence and its meaning to `out`: one sentence. */
struct buf;
void stall_explain(const struct stall *stall, enum stall_kind kind, int64_t now_ms, struct buf *out);

#endif
