/* The tables that Slurm's programs print, row by row. See slurm_text.h. */
#include "backend/slurm_text.h"

#include "backend/slurm_words.h"
#include "base/num.h"
#include "base/text.h"
#include "base/token.h"

#include <inttypes.h>
#include <stdio.h>

/* The array's id, its indices, state, reason, nodes, start, end; the name last, so that whatever it
 * holds cannot shift another field. */
const char slurm_queue_format[] = "%F" SLURM_SEPARATOR "%K" SLURM_SEPARATOR "%T" SLURM_SEPARATOR "%r" SLURM_SEPARATOR
				  "%N" SLURM_SEPARATOR "%S" SLURM_SEPARATOR "%e" SLURM_SEPARATOR "%j";
enum { QUEUE_ID, QUEUE_INDEX, QUEUE_STATE, QUEUE_REASON, QUEUE_NODE, QUEUE_START, QUEUE_END, QUEUE_NAME, QUEUE_FIELDS };

const char slurm_partitions_format[] = "%P" SLURM_SEPARATOR "%a" SLURM_SEPARATOR "%l" SLURM_SEPARATOR
				       "%D" SLURM_SEPARATOR "%T" SLURM_SEPARATOR "%c" SLURM_SEPARATOR
				       "%m" SLURM_SEPARATOR "%G";
enum { PART_NAME, PART_UP, PART_LIMIT, PART_NODES, PART_STATE, PART_CPUS, PART_MEMORY, PART_GRES, PART_FIELDS };

/* "3-9,12,20-40:2%3" or "5"; adds the ranges. False when it is none of it or was cut short ("…,52..."). */
static bool slurm_parse_indices(struct slurm_ranges *ranges, const char *text)
{
	for (;;) {
		uint64_t low, high, step = 1;
		size_t n = strspn(text, "0123456789");
		if (num_parse_unsigned(text, n, SLURM_INDEX_MAX, &low) < 0)
			return false;
		high = low;
		text += n;
		if (*text == '-') {
			n = strspn(text + 1, "0123456789");
			if (num_parse_unsigned(text + 1, n, SLURM_INDEX_MAX, &high) < 0 || high < low)
				return false;
			text += n + 1;
		}
		if (*text == ':') {
			n = strspn(text + 1, "0123456789");
			if (num_parse_unsigned(text + 1, n, SLURM_INDEX_MAX, &step) < 0 || !step)
				return false;
			text += n + 1;
		}
		struct slurm_range range = {(uint32_t)low, (uint32_t)high, (uint32_t)step};
		vec_push(&ranges->list, range);
		if (*text == '\0' || *text == '%' || *text == ']')
			return true;
		if (*text++ != ',')
			return false;
	}
}

static uint64_t slurm_count_indices(const struct slurm_queue *queue, size_t first)
{
	uint64_t count = 0;
	for (size_t i = first; i < queue->ranges.list.len; i++) {
		const struct slurm_range *r = &queue->ranges.list.at[i];
		count += (r->high - r->low) / r->step + 1;
	}
	return count;
}

static const char slurm_name_mark[] = "-sluice-", slurm_no_number[] = "ID";

void slurm_job_name(int64_t experiment, const char *token, char ret[static SLURM_JOB_NAME_CHARS])
{
	if (experiment > 0)
		snprintf(ret, SLURM_JOB_NAME_CHARS, "e%" PRId64 "%s%s", experiment, slurm_name_mark, token);
	else
		snprintf(ret, SLURM_JOB_NAME_CHARS, "%s%s%s", slurm_no_number, slurm_name_mark, token);
}

const char *slurm_token_of_name(const char *name)
{
	size_t len = strlen(slurm_no_number), mark = strlen(slurm_name_mark);
	if (token_is_id(name))
		return name;
	if (strncmp(name, slurm_no_number, len) != 0)
		len = *name == 'e' ? 1 + strspn(name + 1, "0123456789") : 0;
	if (len < 2 || strncmp(name + len, slurm_name_mark, mark) != 0)
		return NULL;
	return token_is_id(name + len + mark) ? name + len + mark : NULL;
}

void slurm_queue_parse(const char *text, size_t len, struct slurm_queue *ret)
{
	char *field[QUEUE_FIELDS], *at;
	int count;

	*ret = (struct slurm_queue){.text = slurm_copy_text(text, len)};
	at = ret->text;
	while ((count = slurm_next_row(&at, SLURM_SEPARATOR[0], field, QUEUE_FIELDS)) >= 0) {
		struct slurm_job job = {.first_range = ret->ranges.list.len};
		if (count != QUEUE_FIELDS || slurm_parse_job(field[QUEUE_ID], &job.id) < 0)
			continue;
		bool ended = slurm_state_kind(field[QUEUE_STATE]) == SLURM_STATE_ENDED;
		bool array = slurm_parse_indices(&ret->ranges, field[QUEUE_INDEX]);
		if (!array)
			ret->ranges.list.len = job.first_range;
		job.range_count = ret->ranges.list.len - job.first_range;
		job.rest = !array && ended && strcmp(field[QUEUE_INDEX], "N/A") == 0;
		if (!ended)
			ret->alive += array ? slurm_count_indices(ret, job.first_range) : 1;
		job.token = slurm_token_of_name(field[QUEUE_NAME]);
		if (!job.token || (!array && !job.rest)) {
			if (strstr(field[QUEUE_INDEX], "..."))
				ret->truncated = true;
			ret->ranges.list.len = job.first_range;
			continue;
		}
		job.state = field[QUEUE_STATE];
		job.reason = field[QUEUE_REASON];
		job.node = field[QUEUE_NODE];
		job.start_ms = slurm_parse_time_ms(field[QUEUE_START]);
		job.end_ms = slurm_parse_time_ms(field[QUEUE_END]);
		vec_push(&ret->jobs, job);
	}
}

bool slurm_ranges_have(const struct slurm_ranges *ranges, size_t first, size_t count, uint32_t index)
{
	for (size_t i = first; i < first + count; i++) {
		const struct slurm_range *r = &ranges->list.at[i];
		if (index >= r->low && index <= r->high && (index - r->low) % r->step == 0)
			return true;
	}
	return false;
}

void slurm_queue_free(struct slurm_queue *queue)
{
	free(queue->text);
	free(queue->jobs.at);
	free(queue->ranges.list.at);
	*queue = (struct slurm_queue){0};
}

/* What one call ended has the same end in the accounting, give or take the turn of a second. */
#define SLURM_SAME_CALL_MS 1000

enum {
	COLUMN_ID,
	COLUMN_STATE,
	COLUMN_EXIT,
	COLUMN_DERIVED,
	COLUMN_START,
	COLUMN_END,
	COLUMN_ELAPSED,
	COLUMN_CPU,
	COLUMN_RSS,
	COLUMN_ENERGY,
	COLUMN_TRES,
	COLUMN_NODE,
	COLUMN_NAME,
	COLUMNS
};
static const char *const slurm_columns[COLUMNS] = {
	[COLUMN_ID] = "JobID",           [COLUMN_STATE] = "State",
	[COLUMN_EXIT] = "ExitCode",      [COLUMN_DERIVED] = "DerivedExitCode",
	[COLUMN_START] = "Start",        [COLUMN_END] = "End",
	[COLUMN_ELAPSED] = "ElapsedRaw", [COLUMN_CPU] = "TotalCPU",
	[COLUMN_RSS] = "MaxRSS",         [COLUMN_ENERGY] = "ConsumedEnergyRaw",
	[COLUMN_TRES] = "AllocTRES",     [COLUMN_NODE] = "NodeList",
	[COLUMN_NAME] = "JobName",
};
/* What every version has had; without these there is nothing to read. */
#define COLUMNS_NEEDED (1u << COLUMN_ID | 1u << COLUMN_STATE | 1u << COLUMN_NAME)

unsigned slurm_columns_known(const char *helpformat)
{
	unsigned known = COLUMNS_NEEDED;
	for (const char *p = helpformat; *p;) {
		size_t len = strcspn(p, " \t\n");
		for (int i = 0; i < COLUMNS; i++)
			if (strlen(slurm_columns[i]) == len && strncasecmp(slurm_columns[i], p, len) == 0)
				known |= 1u << i;
		p += len;
		p += strspn(p, " \t\n");
	}
	return known;
}

char *slurm_columns_format(unsigned columns)
{
	struct buf out = buf_make(1024);
	columns |= COLUMNS_NEEDED;
	for (int i = 0; i < COLUMNS; i++)
		if (columns & 1u << i)
			buf_addf(&out, "%s%s", out.len ? "," : "", slurm_columns[i]);
	return buf_take(&out);
}

/* "1:9" */
static void slurm_parse_exit(const char *text, int *code, int *signal)
{
	uint64_t a, b;
	size_t n = strspn(text, "0123456789");
	if (text[n] == ':' && num_parse_unsigned(text, n, 255, &a) == 0 &&
	    num_parse_unsigned(text + n + 1, strlen(text + n + 1), 255, &b) == 0) {
		*code = (int)a;
		*signal = (int)b;
	}
}

/* "cpu=2,gres/gpu=1,gres/gpu:volta=1,mem=200M": the sum stands under gres/gpu without a type. */
static int64_t slurm_parse_tres_gpus(const char *text)
{
	static const char key[] = "gres/gpu=";
	while (*text) {
		size_t len = strcspn(text, ",");
		uint64_t count;
		if (len >= sizeof(key) && text_starts(text, key) &&
		    num_parse_unsigned(text + sizeof(key) - 1, len - (sizeof(key) - 1), 100000, &count) == 0)
			return (int64_t)count;
		text += len + (text[len] == ',');
	}
	return 0;
}

/* "CANCELLED by 1000": the word alone stays in the field; who did it is returned, or -1. */
static int64_t slurm_cut_state(char *state)
{
	uint64_t uid;
	char *space = strchr(state, ' ');
	if (!space)
		return -1;
	*space = '\0';
	if (text_starts(space + 1, "by ") && num_parse_unsigned(space + 4, strlen(space + 4), UINT32_MAX, &uid) == 0)
		return (int64_t)uid;
	return -1;
}

/* A step's row ("12_3.batch") has what the job's row lacks: memory, and the energy of a job without srun. */
static void slurm_take_step(struct slurm_final *job, char **value)
{
	int64_t rss = slurm_parse_bytes(value[COLUMN_RSS]);
	double energy;
	job->begun = job->begun || (text_ends(value[COLUMN_ID], ".batch") && value[COLUMN_EXIT][0]);
	cost_raise(&job->cost, FIGURE_MEMORY, (double)rss);
	/* 0 is what a plugin without a sensor reports. */
	if (num_parse_real(value[COLUMN_ENERGY], strlen(value[COLUMN_ENERGY]), &energy) == 0 && energy > 0 &&
	    !cost_has(&job->cost, FIGURE_ENERGY))
		cost_set(&job->cost, FIGURE_ENERGY, energy);
}

/* Id and index of "12_3"; for "12_[4-9%2]" and for "12" the elements that never started. sacct 20.11 cuts the list off after
 * 33 characters ("12_[1-2,4-5,7-8,10-11,13-14,16-17"), also within a number: then it says no more than "12" does. */
static bool slurm_parse_element(const char *text, struct slurm_ranges *ranges, struct slurm_final *to)
{
	uint64_t value;
	if (slurm_parse_job(text, &to->id) < 0)
		return false;
	const char *under = strchr(text, '_');
	to->index = UINT32_MAX;
	to->first_range = ranges->list.len;
	if (!under)
		return true;
	if (under[1] == '[') {
		if (!strchr(under, ']') || !slurm_parse_indices(ranges, under + 2))
			ranges->list.len = to->first_range;
		to->range_count = ranges->list.len - to->first_range;
		return true;
	}
	if (num_parse_unsigned(under + 1, strlen(under + 1), SLURM_INDEX_MAX, &value) < 0)
		return false;
	to->index = (uint32_t)value;
	return true;
}

static struct slurm_final slurm_take_final(char **value)
{
	struct slurm_final job = {
		.token = slurm_token_of_name(value[COLUMN_NAME]),
		.incomplete = strcmp(value[COLUMN_NAME], "allocation") == 0,
		.by_uid = slurm_cut_state(value[COLUMN_STATE]),
		.state = value[COLUMN_STATE],
		.node = value[COLUMN_NODE],
		.exit_code = -1,
		.derived_code = -1,
		.start_ms = slurm_parse_time_ms(value[COLUMN_START]),
		.end_ms = slurm_parse_time_ms(value[COLUMN_END]),
		.gpus = value[COLUMN_TRES][0] ? slurm_parse_tres_gpus(value[COLUMN_TRES]) : -1,
	};
	uint64_t seconds;
	cost_set(&job.cost, FIGURE_CPU, (double)slurm_parse_elapsed_ms(value[COLUMN_CPU]));
	if (num_parse_unsigned(value[COLUMN_ELAPSED], strlen(value[COLUMN_ELAPSED]), 1ull << 40, &seconds) == 0)
		cost_set(&job.cost, FIGURE_WALL, (double)seconds * 1000);
	if (job.gpus >= 0)
		cost_set(&job.cost, FIGURE_GPU, (double)job.gpus * cost_get(&job.cost, FIGURE_WALL));
	slurm_parse_exit(value[COLUMN_EXIT], &job.exit_code, &job.signal);
	slurm_parse_exit(value[COLUMN_DERIVED], &job.derived_code, &job.derived_signal);
	slurm_take_step(&job, value);
	return job;
}

void slurm_finals_parse(const char *text, size_t len, unsigned columns, struct slurm_finals *ret)
{
	static char none[] = "";
	char *field[COLUMNS], *at;
	int count, expected;
	/* The id of the job row that step rows belong to: its text with a dot after it. */
	const char *current = NULL;

	columns = (columns | COLUMNS_NEEDED) & ((1u << COLUMNS) - 1);
	expected = __builtin_popcount(columns);
	*ret = (struct slurm_finals){.text = slurm_copy_text(text, len)};
	at = ret->text;
	while ((count = slurm_next_row(&at, SLURM_SEPARATOR[0], field, expected)) >= 0) {
		char *value[COLUMNS];
		if (count != expected)
			continue;
		for (int i = 0, next = 0; i < COLUMNS; i++)
			value[i] = columns & 1u << i ? field[next++] : none;
		size_t n = strcspn(value[COLUMN_ID], ".[");
		if (value[COLUMN_ID][n] == '.') {
			if (current && strlen(current) == n && strncmp(current, value[COLUMN_ID], n) == 0)
				slurm_take_step(&ret->list.at[ret->list.len - 1], value);
			continue;
		}
		current = NULL;
		struct slurm_final job = slurm_take_final(value);
		if (!slurm_parse_element(value[COLUMN_ID], &ret->ranges, &job))
			continue;
		vec_push(&ret->list, job);
		current = value[COLUMN_ID];
	}
}

bool slurm_has_node(const char *node)
{
	return node && *node && node[0] != '(' && !text_starts(node, "None");
}

/* A controller that crashed in between does not know any more who cancelled it. */
bool slurm_is_unlaunched(const struct slurm_final *final)
{
	return final->by_uid <= 0 && !final->begun && slurm_has_node(final->node) &&
		strcmp(final->state, "CANCELLED") == 0;
}

/* The element of an array that starts last has the array's own id. Where its node cancels it by that id, Slurm cancels
 * all of them in the same second. */
bool slurm_went_with_array(const struct slurm_finals *finals, const struct slurm_final *final)
{
	const struct slurm_final *last = NULL;
	if (!final->token || final->by_uid > 0 || !final->begun || strcmp(final->state, "CANCELLED") != 0)
		return false;
	for (size_t i = 0; i < finals->list.len; i++) {
		const struct slurm_final *other = &finals->list.at[i];
		if (other->id != final->id || !other->token || strcmp(other->token, final->token) != 0)
			continue;
		if (other->index == UINT32_MAX)
			return false; /* not all had started */
		if (slurm_is_unlaunched(other) && (!last || other->start_ms > last->start_ms))
			last = other;
	}
	return last && last->start_ms >= final->start_ms && last->end_ms - final->end_ms <= SLURM_SAME_CALL_MS &&
		final->end_ms - last->end_ms <= SLURM_SAME_CALL_MS;
}

void slurm_finals_free(struct slurm_finals *finals)
{
	free(finals->text);
	free(finals->list.at);
	free(finals->ranges.list.at);
	*finals = (struct slurm_finals){0};
}

static struct slurm_partition *slurm_partition_take(struct slurm_partitions *all, char *name)
{
	size_t len = strlen(name);
	bool is_default = len && name[len - 1] == '*';
	if (is_default)
		name[len - 1] = '\0';
	for (size_t i = 0; i < all->list.len; i++)
		if (strcmp(all->list.at[i].name, name) == 0)
			return &all->list.at[i];
	struct slurm_partition fresh = {
		.name = mem_strdup(name), .is_default = is_default, .gpu_types = mem_strdup("")};
	vec_push(&all->list, fresh);
	return &all->list.at[all->list.len - 1];
}

static void slurm_partition_add_nodes(struct slurm_partition *part, char **field)
{
	uint64_t nodes, cpus, megabytes;
	struct buf types = buf_make(4096);

	/* Nodes of one row are alike (sinfo --exact), yet old versions write "8+" all the same. */
	if (num_parse_unsigned(field[PART_NODES], strlen(field[PART_NODES]), 10000000, &nodes) < 0)
		nodes = 0;
	if (num_parse_unsigned(field[PART_CPUS], strspn(field[PART_CPUS], "0123456789"), 1000000, &cpus) < 0)
		cpus = 0;
	if (num_parse_unsigned(field[PART_MEMORY], strspn(field[PART_MEMORY], "0123456789"), 1ull << 40, &megabytes) <
	    0)
		megabytes = 0;
	buf_add_text(&types, part->gpu_types);
	int64_t gpus = slurm_parse_gres(field[PART_GRES], &types);
	free(part->gpu_types);
	part->gpu_types = mem_strdup(buf_text(&types));
	buf_free(&types);

	part->nodes += (int64_t)nodes;
	part->cpus += (int64_t)(nodes * cpus);
	part->gpus += (int64_t)nodes * gpus;
	/* "idle*" does not respond. */
	if (strcmp(field[PART_STATE], "idle") == 0)
		part->idle_nodes += (int64_t)nodes;
	if ((int64_t)cpus > part->cpus_per_node)
		part->cpus_per_node = (int64_t)cpus;
	if (gpus > part->gpus_per_node)
		part->gpus_per_node = gpus;
	if (gpus && slurm_parse_gres_of(field[PART_GRES], "shard", NULL) / gpus > part->shards_per_gpu)
		part->shards_per_gpu = slurm_parse_gres_of(field[PART_GRES], "shard", NULL) / gpus;
	if (gpus && slurm_parse_gres_of(field[PART_GRES], "mps", NULL) / gpus > part->mps_per_gpu)
		part->mps_per_gpu = slurm_parse_gres_of(field[PART_GRES], "mps", NULL) / gpus;
	if ((int64_t)megabytes << 20 > part->memory_bytes)
		part->memory_bytes = (int64_t)megabytes << 20;
}

void slurm_partitions_parse(const char *text, size_t len, struct slurm_partitions *ret)
{
	char *field[PART_FIELDS];
	char *copy = slurm_copy_text(text, len), *at = copy;
	int count;

	*ret = (struct slurm_partitions){0};
	while ((count = slurm_next_row(&at, SLURM_SEPARATOR[0], field, PART_FIELDS)) >= 0) {
		if (count != PART_FIELDS || !field[PART_NAME][0])
			continue;
		struct slurm_partition *part = slurm_partition_take(ret, field[PART_NAME]);
		int64_t limit = slurm_parse_elapsed_ms(field[PART_LIMIT]);
		part->up = strcmp(field[PART_UP], "up") == 0;
		part->time_limit_ms = limit > 0 ? limit : 0;
		slurm_partition_add_nodes(part, field);
	}
	free(copy);
}

void slurm_partitions_free(struct slurm_partitions *partitions)
{
	for (size_t i = 0; i < partitions->list.len; i++) {
		free(partitions->list.at[i].name);
		free(partitions->list.at[i].gpu_types);
	}
	free(partitions->list.at);
	*partitions = (struct slurm_partitions){0};
}

const struct slurm_partition *slurm_partition_find(const struct slurm_partitions *partitions, const char *name)
{
	for (size_t i = 0; i < partitions->list.len; i++) {
		const struct slurm_partition *p = &partitions->list.at[i];
		if (name ? strcmp(p->name, name) == 0 : p->is_default)
			return p;
	}
	return NULL;
}
