/* Readers of what Slurm's programs print: squeue, sacct, sinfo, scontrol, sacctmgr. Pure: text in, structures out,
 * nothing is trusted. Fields are separated by \x1f, which no field of ours can hold; a row that does not have the
 * expected form is skipped, and is never an error: the programs print notices between rows, and every version adds
 * some. */
#ifndef BACKEND_SLURM_TEXT_H
#define BACKEND_SLURM_TEXT_H

#include "base/buf.h"
#include "base/cost.h"
#include "base/token.h"

#include <stdbool.h>
#include <stdint.h>

#define SLURM_SEPARATOR "\x1f"
/* Job ids are 32 bits in Slurm (26 and a cluster number in federations). */
#define SLURM_JOB_MAX UINT32_MAX
/* MaxArraySize cannot be set above 4,000,001. */
#define SLURM_INDEX_MAX 4000001u

/* Some indices of an array: low, low + step, …, high. */
struct slurm_range {
	uint32_t low, high, step;
};

struct slurm_ranges {
	VEC(struct slurm_range) list;
};

/* One job of the queue, or one row for all the elements of an array that have not started. Texts point into the
 * queue's own copy. */
struct slurm_job {
	const char *token; /* in the job's name, 32 hex digits */
	uint64_t id; /* of the array */
	size_t first_range, range_count;
	bool rest; /* array cancelled before it started, without indices: for all elements without their own row */
	const char *state, *reason, *node;
	int64_t start_ms, end_ms; /* 0 unknown; start is an expectation while it waits */
};

struct slurm_queue {
	char *text;
	VEC(struct slurm_job) jobs; /* those with our kind of name */
	struct slurm_ranges ranges;
	uint64_t alive; /* elements waiting or running under this uid, whatever their names */
	bool truncated; /* a list of indices was cut short: ask again with every element on a row */
};

/* The name of a batch's jobs: "e12-sluice-TOKEN", so that a person who reads the queue sees whose it is. "ID" stands for an
 * experiment that has no number yet (0). */
#define SLURM_JOB_NAME_CHARS (TOKEN_ID_CHARS + 32)
void slurm_job_name(int64_t experiment, const char *token, char ret[static SLURM_JOB_NAME_CHARS]);
/* The token in a job's name, which may also be the whole name (earlier versions, the doctor). NULL: not our kind of name. */
const char *slurm_token_of_name(const char *name);

/* What squeue is asked for, and the reader of the answer. Free with slurm_queue_free. */
extern const char slurm_queue_format[];
void slurm_queue_parse(const char *text, size_t len, struct slurm_queue *ret);
void slurm_queue_free(struct slurm_queue *queue);
bool slurm_ranges_have(const struct slurm_ranges *ranges, size_t first, size_t count, uint32_t index);

/* One element as the accounting knows it. -1: not known. */
struct slurm_final {
	const char *token; /* NULL: not our kind of name */
	bool incomplete; /* the record has not been filled in yet; its name is "allocation" */
	uint64_t id;
	uint32_t index; /* UINT32_MAX: the elements that never started, see below */
	size_t first_range, range_count; /* which ones; none: all elements without their own record */
	const char *state; /* without what follows the word: "CANCELLED" */
	int64_t by_uid; /* who cancelled it; -1 */
	bool begun; /* its batch script has an exit code, so a node has started it */
	const char *node;
	int exit_code, signal, derived_code, derived_signal;
	int64_t start_ms, end_ms, gpus;
	struct cost cost; /* what it used */
};

struct slurm_finals {
	char *text;
	VEC(struct slurm_final) list;
	struct slurm_ranges ranges;
};

/* The columns sacct is asked for, as a mask over the reader's own table. One unknown column fails the whole
 * call, so the set is taken from what `sacct --helpformat` lists. */
unsigned slurm_columns_known(const char *helpformat);
#define SLURM_COLUMNS_ALL (~0u)
/* "JobID,State,…" for --format; the caller frees it. */
char *slurm_columns_format(unsigned columns);
void slurm_finals_parse(const char *text, size_t len, unsigned columns, struct slurm_finals *ret);
void slurm_finals_free(struct slurm_finals *finals);
/* True if this is the name of a node, and not a word that means "none". */
bool slurm_has_node(const char *node);
/* True if root cancelled it before its batch script began. A node that cannot start a job (its prolog failed, or it has
 * another job with that id) asks for a requeue. If requeue is not allowed, as for our jobs, it cancels the job. */
bool slurm_is_unlaunched(const struct slurm_final *final);
/* True if it was cancelled only because another element of its array was: then the whole array was cancelled. */
bool slurm_went_with_array(const struct slurm_finals *finals, const struct slurm_final *final);

/* One partition, its nodes summed up. */
struct slurm_partition {
	char *name;
	bool is_default, up;
	int64_t nodes, idle_nodes, cpus, gpus;
	int64_t cpus_per_node, gpus_per_node, memory_bytes; /* of its largest node */
	int64_t shards_per_gpu, mps_per_gpu; /* parts in which its GPUs can be asked for; 0: none */
	char *gpu_types; /* "a100,volta"; "" */
	int64_t time_limit_ms; /* 0: none */
};
struct slurm_partitions {
	VEC(struct slurm_partition) list;
};
extern const char slurm_partitions_format[];
void slurm_partitions_parse(const char *text, size_t len, struct slurm_partitions *ret);
void slurm_partitions_free(struct slurm_partitions *partitions);
/* How a share of a GPU (thousandths) is asked for there: "shard:2" or "mps:25". False: only whole GPUs can be. */
#define SLURM_SHARE_CHARS 32
bool slurm_share_gres(const struct slurm_partition *part, int64_t share, char text[static SLURM_SHARE_CHARS]);
/* NULL when there is none of that name; name NULL: the default one. */
const struct slurm_partition *slurm_partition_find(const struct slurm_partitions *partitions, const char *name);

/* Adds the value of "Key   = value" in the output of `scontrol show config` to out; false when absent. */
bool slurm_config_get(const char *text, const char *key, char *value, size_t size);
/* The number at the head of such a value ("10 sec"), or `fallback`. */
int64_t slurm_config_number(const char *text, const char *key, int64_t fallback);

/* Since when the controller is known to be up without a restart. A controller that crashed may have forgotten jobs. */
struct slurm_boot {
	char time[32]; /* BOOT_TIME as Slurm writes it; "": not known */
	int64_t since_ms; /* when that value was first read, by our clock */
};
/* Takes BOOT_TIME out of `scontrol show config`. */
void slurm_boot_read(struct slurm_boot *boot, const char *config, int64_t now_ms);
/* True if the controller has been up all the time since then (our clock), as far as it was last read. False: not
 * certain. */
bool slurm_boot_is_before(const struct slurm_boot *boot, int64_t time_ms);

/* Who may submit how much, as sacctmgr tells it. 0: no limit. */
struct slurm_association {
	char *account, *partition, *default_qos, *qos; /* "" where there is none; qos comma-separated */
	bool is_default;
	uint64_t submit_limit;
};
struct slurm_qos {
	char *name;
	uint64_t submit_limit;
};
struct slurm_limits {
	VEC(struct slurm_association) associations;
	VEC(struct slurm_qos) qos;
};
extern const char slurm_associations_format[], slurm_qos_format[];
/* Rows of other clusters are skipped. cluster NULL: reads the rows of all clusters. */
void slurm_associations_parse(const char *text, size_t len, const char *cluster, struct slurm_limits *to);
void slurm_qos_parse(const char *text, size_t len, struct slurm_limits *to);
/* How many jobs such a submission may have in the queue; 0: no limit is known. NULL: the defaults. */
uint64_t slurm_submit_limit(const struct slurm_limits *limits, const char *account, const char *qos);
const char *slurm_default_account(const struct slurm_limits *limits); /* NULL: unknown */
bool slurm_account_allowed(const struct slurm_limits *limits, const char *account);
/* The QOS that such a submission may use, "high,low,normal", as far as it is known; NULL: not known. account NULL: the
 * default one. */
const char *slurm_qos_of(const struct slurm_limits *limits, const char *account);
bool slurm_qos_exists(const struct slurm_limits *limits, const char *qos); /* true where none are known */
/* Is the word in the list "a,b,c"? */
bool slurm_has_word(const char *list, const char *word);
void slurm_limits_free(struct slurm_limits *limits);

/* Takes the next line off *text and cuts it at `separator` into at most `max` fields in place; the last field
 * keeps the rest. Returns their number, -1 at the end. */
int slurm_next_row(char **text, char separator, char **field, int max);
/* A copy without NULs inside, which would hide what follows them. The caller frees it. */
char *slurm_copy_text(const char *text, size_t len);

/* Is this version ("22.05.8") at least major.minor? False when it is none. */
bool slurm_version_since(const char *version, uint64_t major, uint64_t minor);
/* What sbatch --parsable prints: "123" or "123;cluster" (or "Submitted batch job 123"). 0 or -EINVAL. */
int slurm_parse_submitted(const char *text, uint64_t *ret_job) MUST_USE;
/* "123", "123_4": the array's id. 0 or -EINVAL. */
int slurm_parse_job(const char *text, uint64_t *ret_job) MUST_USE;
/* Seconds since 1970 (what SLURM_TIME_FORMAT=%s gives) or ISO 8601 in local time; 0 for N/A, Unknown, None. */
int64_t slurm_parse_time_ms(const char *text);
/* "[DD-]HH:MM:SS", "MM:SS.mmm", minutes alone; -1 for anything else ("infinite", "UNLIMITED"). */
int64_t slurm_parse_elapsed_ms(const char *text);
/* "12345K", "1.5M", "2048" (kB where nothing else is said in sacct's MaxRSS: it always says); -1 unknown. */
int64_t slurm_parse_bytes(const char *text);
/* GPUs in "gpu:volta:2(S:0-1),gpu:1,nvme:1T"; the types are added to types, comma-separated, once each. */
int64_t slurm_parse_gres(const char *text, struct buf *types);
/* The same of another kind: "shard", "mps". */
int64_t slurm_parse_gres_of(const char *text, const char *kind, struct buf *types);

#endif
