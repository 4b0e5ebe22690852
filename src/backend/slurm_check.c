/* Whether the cluster can do what is asked for, before anything is submitted: partition, account, QOS, GPUs and sizes
 * against what slurm_cluster.c knows. */
#include "backend/slurm_private.h"

#include "base/num.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

static void slurm_partition_names(const struct slurm_cluster *c, char *text, size_t size)
{
	struct buf names = buf_make(size - 1);
	for (size_t i = 0; i < c->partitions.list.len && !names.full; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", c->partitions.list.at[i].name);
	snprintf(text, size, "%s", buf_text(&names));
	buf_free(&names);
}

/* A QOS that sbatch would refuse. Administrators may use all that exist. */
static void slurm_check_qos(const struct slurm_cluster *c, const struct backend_resources *r, const struct node *at,
			    struct problems *problems)
{
	if (!r->qos || !c->qos_enforced)
		return;
	const char *allowed = slurm_qos_of(&c->limits, r->account);
	bool exists = slurm_qos_exists(&c->limits, r->qos);
	if (exists && (!allowed || geteuid() == 0 || slurm_has_word(allowed, r->qos)))
		return;
	problem_add(problems, slurm_at(at, "qos"),
		    allowed ? "choose one of those" : "`sacctmgr show assoc user=$USER format=account,qos` lists yours",
		    "%s QOS %s%s%s", exists ? "you may not use the" : "there is no", r->qos,
		    allowed ? "; you may use " : "", allowed ? allowed : "");
}

/* "choose a partition with GPUs: gpu_volta": those with enough of them, of the type. */
static void slurm_gpu_remedy(const struct slurm_cluster *c, const struct backend_resources *r, char *text, size_t size)
{
	struct buf names = buf_make(size / 2);
	for (size_t i = 0; i < c->partitions.list.len && !names.full; i++) {
		const struct slurm_partition *p = &c->partitions.list.at[i];
		if (p->up && p->gpus_per_node >= r->gpus && (!r->gpu_type || slurm_has_word(p->gpu_types, r->gpu_type)))
			buf_addf(&names, "%s%s", names.len ? ", " : "", p->name);
	}
	if (names.len)
		snprintf(text, size, "choose a partition with such GPUs: %s", buf_text(&names));
	else
		snprintf(text, size, "no partition has them: ask for fewer, or for another type");
	buf_free(&names);
}

bool slurm_share_gres(const struct slurm_partition *part, int64_t share, char text[static SLURM_SHARE_CHARS])
{
	int64_t all = part->shards_per_gpu ? part->shards_per_gpu : part->mps_per_gpu;
	int64_t count = (all * share + 999) / 1000; /* upwards: a task gets what it asked for */
	snprintf(text, SLURM_SHARE_CHARS, "%s:%" PRId64, part->shards_per_gpu ? "shard" : "mps", count);
	return all > 0;
}

static void slurm_check_gpus(const struct slurm_cluster *c, const struct slurm_partition *part,
			     const struct backend_resources *r, const struct node *at, struct problems *problems)
{
	char remedy[512];
	slurm_gpu_remedy(c, r, remedy, sizeof(remedy));
	if (r->gpu_share && part->gpus_per_node && !slurm_share_gres(part, r->gpu_share, (char[SLURM_SHARE_CHARS]){0}))
		problem_add(problems, slurm_at(at, "gpus"), "write gpus: 1, or choose a partition with shards or MPS",
			    "asked for %g of a GPU; partition %s has whole ones only", (double)r->gpu_share / 1000,
			    part->name);
	else if (r->gpus > 0 && !part->gpus_per_node)
		problem_add(problems, slurm_at(at, "gpus"), remedy,
			    "asked for %" PRId64 " GPU%s; partition %s has none", r->gpus, r->gpus == 1 ? "" : "s",
			    part->name);
	else if (r->gpus > part->gpus_per_node)
		problem_add(problems, slurm_at(at, "gpus"), remedy,
			    "asked for %" PRId64 " GPUs; partition %s has %" PRId64 " per node", r->gpus, part->name,
			    part->gpus_per_node);
	else if (r->gpus > 0 && r->gpu_type && part->gpu_types[0] && !slurm_has_word(part->gpu_types, r->gpu_type))
		problem_add(problems, slurm_at(at, "gpu_type"), "choose one of those",
			    "asked for a GPU of type %s; partition %s has %s", r->gpu_type, part->name,
			    part->gpu_types);
}

static void slurm_check_sizes(const struct slurm_partition *part, const struct backend_resources *r,
			      const struct node *at, struct problems *problems)
{
	char a[32], b[32];
	if (part->cpus_per_node && r->cpus > part->cpus_per_node)
		problem_add(problems, slurm_at(at, "cpus"), "ask for fewer, or choose another partition",
			    "asked for %" PRId64 " CPUs; partition %s has %" PRId64 " per node", r->cpus, part->name,
			    part->cpus_per_node);
	if (part->memory_bytes && r->memory_bytes > part->memory_bytes) {
		text_format_two_bytes(r->memory_bytes, part->memory_bytes, a, b, sizeof(a));
		problem_add(problems, slurm_at(at, "memory"), "ask for less, or choose another partition",
			    "asked for %s of memory; a node of partition %s has %s", a, part->name, b);
	}
	if (part->nodes && r->nodes > part->nodes)
		problem_add(problems, slurm_at(at, "nodes"), "ask for fewer, or choose another partition",
			    "asked for %" PRId64 " nodes; partition %s has %" PRId64, r->nodes, part->name,
			    part->nodes);
	if (part->time_limit_ms && r->time_ms > part->time_limit_ms) {
		text_format_duration(r->time_ms, a, sizeof(a));
		text_format_duration(part->time_limit_ms, b, sizeof(b));
		problem_add(problems, slurm_at(at, "time"), "ask for less, or choose another partition",
			    "asked for %s; partition %s allows %s", a, part->name, b);
	}
}

void slurm_check(struct backend *backend, const struct backend_resources *r, const struct node *at,
		 struct problems *problems)
{
	struct slurm *slurm = (struct slurm *)backend;
	const struct slurm_cluster *c = &slurm->cluster;
	char names[512];

	slurm_check_words(r, at, problems);
	slurm_refresh_if_old(slurm);
	if (r->account && !slurm_account_allowed(&c->limits, r->account))
		problem_add(problems, slurm_at(at, "account"),
			    "`sacctmgr show assoc user=$USER format=account` lists yours",
			    "you are not in the account %s", r->account);
	slurm_check_qos(c, r, at, problems);
	/* Several partitions may be named ("a,b"): then Slurm has the last word. */
	if (!c->partitions.list.len || (r->partition && strchr(r->partition, ',')))
		return;
	const struct slurm_partition *part = slurm_partition_find(&c->partitions, r->partition);
	slurm_partition_names(c, names, sizeof(names));
	if (!part && r->partition)
		problem_add(problems, slurm_at(at, "partition"), "choose one of those",
			    "there is no partition %s; there are %s", r->partition, names);
	else if (!part)
		problem_add(problems, at, "name one of those",
			    "a partition must be named: the cluster has no default one; there are %s", names);
	if (!part)
		return;
	slurm_check_gpus(c, part, r, at, problems);
	slurm_check_sizes(part, r, at, problems);
}

/* Several partitions may be named ("a,b"): Slurm takes the one that starts first, so the largest of them counts. */
void slurm_most(struct backend *backend, const struct backend_resources *r, int64_t *ret_memory_bytes,
		int64_t *ret_time_ms)
{
	const struct slurm_partitions *parts = &((struct slurm *)backend)->cluster.partitions;
	int64_t memory = 0, time_ms = 0;
	bool endless = false;
	for (size_t i = 0; i < parts->list.len; i++) {
		const struct slurm_partition *p = &parts->list.at[i];
		if (r->partition ? !slurm_has_word(r->partition, p->name) : !p->is_default)
			continue;
		memory = p->memory_bytes > memory ? p->memory_bytes : memory;
		time_ms = p->time_limit_ms > time_ms ? p->time_limit_ms : time_ms;
		endless |= !p->time_limit_ms;
	}
	if (memory)
		*ret_memory_bytes = memory;
	if (time_ms && !endless)
		*ret_time_ms = time_ms;
}
