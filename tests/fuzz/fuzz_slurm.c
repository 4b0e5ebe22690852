/* What squeue, sacct, sinfo, sacctmgr, scontrol and sbatch print: any bytes give a structure whose numbers are within
 * bounds. The first byte picks the columns that sacct is taken to have printed. */
#include "backend/slurm_nodes.h"
#include "backend/slurm_text.h"
#include "backend/slurm_words.h"

#include "base/token.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_queue(const char *text, size_t size)
{
	struct slurm_queue queue;
	slurm_queue_parse(text, size, &queue);
	for (size_t i = 0; i < queue.jobs.len; i++) {
		const struct slurm_job *job = &queue.jobs.at[i];
		struct buf words = buf_make(1024);
		if (!token_is_id(job->token) || job->id > SLURM_JOB_MAX || (!job->range_count && !job->rest) ||
		    job->first_range + job->range_count > queue.ranges.list.len || job->start_ms < 0)
			abort();
		slurm_reason_words(job->reason, &words);
		struct slurm_end end = {.state = job->state, .reason = job->reason, .exit_code = -1, .node = job->node};
		struct slurm_cause cause;
		slurm_explain_end(&end, &cause);
		if (!cause.cause)
			abort();
		buf_free(&words);
	}
	for (size_t i = 0; i < queue.ranges.list.len; i++) {
		const struct slurm_range *r = &queue.ranges.list.at[i];
		if (!r->step || r->high < r->low || r->high > SLURM_INDEX_MAX)
			abort();
	}
	slurm_queue_free(&queue);
}

static void check_finals(const char *text, size_t size, unsigned columns)
{
	struct slurm_finals finals;
	slurm_finals_parse(text, size, columns, &finals);
	for (size_t i = 0; i < finals.list.len; i++) {
		const struct slurm_final *f = &finals.list.at[i];
		if ((f->token && !token_is_id(f->token)) || f->gpus < -1 || f->exit_code > 255 || f->signal > 255 ||
		    cost_get(&f->cost, FIGURE_ENERGY) <= 0)
			abort();
	}
	slurm_finals_free(&finals);
}

static void check_nodes(const char *text, size_t size)
{
	struct slurm_nodes nodes;
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json json = json_to(&out);
	slurm_nodes_parse(text, size, &nodes);
	json_map(&json);
	slurm_nodes_write(&nodes, NULL, 0, &json);
	json_end(&json);
	for (size_t i = 0; i < nodes.list.len; i++)
		if (nodes.list.at[i].cpus < 0 || nodes.list.at[i].gpus < 0 || !*nodes.list.at[i].name)
			abort();
	slurm_nodes_free(&nodes);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	unsigned columns = data[0] & 0x80 ? SLURM_COLUMNS_ALL : (unsigned)data[0] * 131;
	char *text = mem_copy(data + 1, size - 1);
	char value[64];
	uint64_t id;

	check_queue(text, size - 1);
	check_nodes(text, size - 1);
	check_finals(text, size - 1, columns);
	struct slurm_partitions partitions;
	slurm_partitions_parse(text, size - 1, &partitions);
	slurm_partitions_free(&partitions);
	struct slurm_limits limits = {0};
	slurm_associations_parse(text, size - 1, "lab", &limits);
	slurm_qos_parse(text, size - 1, &limits);
	slurm_limits_free(&limits);
	slurm_config_get(text, "MaxArraySize", value, sizeof(value));
	if (slurm_config_number(text, "MessageTimeout", 10) < 0)
		abort();
	char *format = slurm_columns_format(slurm_columns_known(text));
	free(format);
	struct slurm_refusal refusal;
	slurm_explain_refusal(text, &refusal);
	if (slurm_parse_submitted(text, &id) == 0 && id > SLURM_JOB_MAX)
		abort();
	free(text);
	return 0;
}
