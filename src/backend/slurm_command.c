/* Argument vectors, the batch script and its template. See slurm_command.h. */
#include "backend/slurm_command.h"

#include "base/text.h"
#include "base/token.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

/* Ceiling of a batch script: people's templates are a page. */
#define SLURM_SCRIPT_BYTES (256u << 10)
/* What Slurm takes as a time before the limit, in seconds (16 bits). */
#define SLURM_SIGNAL_SECONDS 65535
/* So much of an experiment's name is in the comment of its jobs. */
#define SLURM_COMMENT_NAME_CHARS 64

void slurm_args_add(struct slurm_args *args, const char *word)
{
	vec_push(&args->words, mem_strdup(word));
}

void slurm_args_addf(struct slurm_args *args, const char *fmt, ...)
{
	char *word;
	va_list ap;

	va_start(ap, fmt);
	int len = vasprintf(&word, fmt, ap);
	va_end(ap);
	if (len < 0)
		abort();
	vec_push(&args->words, word);
}

const char *const *slurm_args_done(struct slurm_args *args)
{
	vec_push(&args->words, NULL);
	args->words.len--;
	return (const char *const *)args->words.at;
}

void slurm_args_free(struct slurm_args *args)
{
	for (size_t i = 0; i < args->words.len; i++)
		free(args->words.at[i]);
	free(args->words.at);
	*args = (struct slurm_args){0};
}

/* Variables that Slurm's programs take as if they had been options. Those of an allocation are taken from
 * sbatch because a daemon that itself lives in a Slurm job would hand its own shape on. */
static const struct {
	const char *program, *names;
} slurm_unset[] = {
	{"squeue",
	 "SQUEUE_ACCOUNT SQUEUE_ALL SQUEUE_ARRAY SQUEUE_ARRAY_UNIQUE SQUEUE_EXPAND_PATTERNS SQUEUE_FEDERATION "
	 "SQUEUE_FORMAT SQUEUE_FORMAT2 SQUEUE_LICENSES SQUEUE_LOCAL SQUEUE_NAMES SQUEUE_PARTITION "
	 "SQUEUE_PRIORITY SQUEUE_QOS SQUEUE_SIBLING SQUEUE_SORT SQUEUE_STATES SQUEUE_USERS"},
	{"sacct", "SACCT_FEDERATION SACCT_FORMAT SACCT_LOCAL"},
	{"scancel",
	 "SCANCEL_ACCOUNT SCANCEL_BATCH SCANCEL_CTLD SCANCEL_CRON SCANCEL_FULL SCANCEL_HURRY "
	 "SCANCEL_INTERACTIVE SCANCEL_NAME SCANCEL_PARTITION SCANCEL_QOS SCANCEL_STATE SCANCEL_USER "
	 "SCANCEL_VERBOSE SCANCEL_WCKEY"},
	{"sinfo", "SINFO_ALL SINFO_FEDERATION SINFO_FORMAT SINFO_LOCAL SINFO_PARTITION SINFO_SORT"},
	{"sbatch",
	 "SBATCH_WAIT SBATCH_DEBUG SBATCH_ARRAY_INX SBATCH_JOB_NAME SBATCH_OPEN_MODE SBATCH_REQUEUE "
	 "SBATCH_NO_REQUEUE SLURM_JOB_ID SLURM_JOBID SLURM_JOB_NAME SLURM_NTASKS SLURM_NPROCS "
	 "SLURM_CPUS_PER_TASK SLURM_CPUS_PER_GPU SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE "
	 "SLURM_GPUS SLURM_GPUS_PER_NODE SLURM_GPUS_PER_TASK SLURM_TRES_PER_TASK SLURM_NNODES "
	 "SLURM_JOB_NUM_NODES SLURM_TASKS_PER_NODE SLURM_NTASKS_PER_NODE SLURM_CPU_BIND "
	 "SLURM_CPU_BIND_TYPE SLURM_CPU_BIND_LIST SLURM_CPU_BIND_VERBOSE SLURM_EXPORT_ENV "
	 "SLURM_ARRAY_TASK_ID SLURM_ARRAY_JOB_ID SLURM_RESTART_COUNT"},
};

void slurm_args_program(struct slurm_args *args, const char *program)
{
	slurm_args_add(args, "env");
	for (size_t i = 0; i < COUNT_OF(slurm_unset); i++) {
		if (strcmp(slurm_unset[i].program, program) != 0)
			continue;
		for (const char *p = slurm_unset[i].names; *p;) {
			size_t len = strcspn(p, " ");
			slurm_args_add(args, "-u");
			slurm_args_addf(args, "%.*s", (int)len, p);
			p += len + (p[len] == ' ');
		}
	}
	if (strcmp(program, "sbatch") != 0) {
		slurm_args_add(args, "LC_ALL=C");
		slurm_args_add(args, "SLURM_TIME_FORMAT=%s");
		slurm_args_add(args, "SLURM_BITSTR_LEN=0");
	}
	slurm_args_add(args, program);
}

static int slurm_compare_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

char *slurm_format_indices(const uint32_t *indices, size_t count)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	uint32_t *sorted = mem_resize(NULL, count ? count : 1, sizeof(*sorted));

	memcpy(sorted, indices, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), slurm_compare_index);
	for (size_t i = 0, last; i < count; i = last + 1) {
		for (last = i; last + 1 < count && sorted[last + 1] <= sorted[last] + 1; last++)
			;
		buf_addf(&out, "%s%u", out.len ? "," : "", sorted[i]);
		if (sorted[i] != sorted[last])
			buf_addf(&out, "-%u", sorted[last]);
	}
	free(sorted);
	buf_add(&out, "", 0);
	return buf_take(&out);
}

static bool slurm_has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/* Options that are ours to give, or that make sbatch do something else than submit. An abbreviation of one
 * counts as one: getopt takes it. */
static const struct {
	const char *name;
	char letter; /* 0: none */
	const char *remedy;
} slurm_reserved[] = {
	{"array", 'a', "sluice makes the array itself; use `search.parallel` for the limit"},
	{"job-name", 'J', "sluice finds its jobs by their names"},
	{"output", 'o', "the output is in the task's folder; see `sluice logs`"},
	{"error", 'e', "the error output is in the task's folder; see `sluice logs`"},
	{"input", 'i', "open the file in the script"},
	{"open-mode", 0, "take it out"},
	{"requeue", 0, "use `retry:`; sluice itself restarts tasks"},
	{"parsable", 0, "take it out"},
	{"wait", 'W', "take it out"},
	{"wrap", 0, "use `command:` to say what to run"},
	{"test-only", 0, "use `sluice check`"},
	{"clusters", 'M', "only this machine's own cluster is supported"},
	{"cluster", 0, "only this machine's own cluster is supported"},
	{"quiet", 'Q', "take it out"},
	{"help", 'h', "take it out"},
	{"usage", 0, "take it out"},
	{"version", 'V', "take it out"},
};

/* Why this option cannot be passed on; NULL when it can. */
static const char *slurm_option_remedy(const char *option)
{
	if (option[0] != '-' || !option[1])
		return "write every option in one piece: `--name=value`";
	if (slurm_has_control(option))
		return "take the line break or control character out";
	if (option[1] != '-') {
		for (size_t i = 0; i < COUNT_OF(slurm_reserved); i++)
			if (slurm_reserved[i].letter == option[1])
				return slurm_reserved[i].remedy;
		return NULL;
	}
	size_t len = strcspn(option + 2, "=");
	if (!len)
		return "write every option in one piece: `--name=value`";
	if (memchr(option + 2, ' ', len))
		return "write a `=` between the option and its value";
	for (size_t i = 0; i < COUNT_OF(slurm_reserved); i++)
		if (strncmp(slurm_reserved[i].name, option + 2, len) == 0)
			return slurm_reserved[i].remedy;
	return NULL;
}

const struct node *slurm_at(const struct node *at, const char *key)
{
	const struct node *member = node_get(at, key);
	return member ? member : at;
}

static void slurm_check_text(const char *key, const char *value, const struct node *at, struct problems *problems)
{
	if (value && (!*value || strlen(value) > 1024 || slurm_has_control(value)))
		problem_add(problems, slurm_at(at, key), "write a short word without line breaks",
			    "Slurm does not accept %s", key);
}

void slurm_check_words(const struct backend_resources *r, const struct node *at, struct problems *problems)
{
	slurm_check_text("partition", r->partition, at, problems);
	slurm_check_text("account", r->account, at, problems);
	slurm_check_text("qos", r->qos, at, problems);
	slurm_check_text("constraint", r->constraint, at, problems);
	slurm_check_text("gpu_type", r->gpu_type, at, problems);
	if (r->gpu_type && strpbrk(r->gpu_type, ":,=()"))
		problem_add(problems, slurm_at(at, "gpu_type"), "write the type alone, as in `sinfo -o %G`",
			    "gpu_type '%.100s' is not the name of a GPU", r->gpu_type);
	for (size_t i = 0; r->options && r->options[i]; i++) {
		const char *remedy = slurm_option_remedy(r->options[i]);
		if (remedy)
			problem_add(problems, slurm_at(at, "options"), remedy, "option '%.100s' cannot be used",
				    r->options[i]);
	}
	if (r->signal_before_ms > SLURM_SIGNAL_SECONDS * 1000ll)
		problem_add(problems, at, "Slurm allows at most 18 hours",
			    "the checkpoint signal comes too long before the limit");
	if (r->template) {
		struct error err;
		struct backend_item item = {0};
		struct backend_batch batch = {
			.token = "", .batch_dir = "/", .resources = r, .items = &item, .count = 1};
		char *script = slurm_batch_script(&batch, "/", &err);
		if (!script)
			problem_add(problems, slurm_at(at, "template"), NULL, "%s", err.text);
		free(script);
	}
}

/* USR1 for SIGUSR1; the number where it has no name. */
static void slurm_signal_name(int number, char text[static 16])
{
	const char *name = sigabbrev_np(number);
	if (name)
		snprintf(text, 16, "%s", name);
	else
		snprintf(text, 16, "%d", number);
}

static int64_t slurm_minutes(int64_t ms)
{
	return (ms + 59999) / 60000;
}

static int64_t slurm_megabytes(int64_t bytes)
{
	return (bytes + (1 << 20) - 1) >> 20;
}

static void slurm_add_resources(struct slurm_args *args, const struct backend_resources *r)
{
	if (r->partition)
		slurm_args_addf(args, "--partition=%s", r->partition);
	if (r->account)
		slurm_args_addf(args, "--account=%s", r->account);
	if (r->qos)
		slurm_args_addf(args, "--qos=%s", r->qos);
	if (r->constraint)
		slurm_args_addf(args, "--constraint=%s", r->constraint);
	if (r->nodes > 0) {
		slurm_args_addf(args, "--nodes=%" PRId64, r->nodes);
		slurm_args_add(args, "--ntasks-per-node=1");
	}
	if (r->cpus > 0)
		slurm_args_addf(args, "--cpus-per-task=%" PRId64, r->cpus);
	if (r->memory_bytes > 0)
		slurm_args_addf(args, "--mem=%" PRId64 "M", slurm_megabytes(r->memory_bytes));
	if (r->gpu_gres)
		slurm_args_addf(args, "--gres=%s", r->gpu_gres);
	else if (r->gpus > 0)
		slurm_args_addf(args, "--gres=gpu:%s%s%" PRId64, r->gpu_type ? r->gpu_type : "", r->gpu_type ? ":" : "",
				r->gpus);
	if (r->time_ms > 0)
		slurm_args_addf(args, "--time=%" PRId64, slurm_minutes(r->time_ms));
	if (r->exclusive)
		slurm_args_add(args, "--exclusive");
	if (r->signal_before_ms > 0) {
		char name[16];
		/* It goes to the runner, which passes on the one that the script wants. Any other would stop the runner. */
		slurm_signal_name(r->checkpoint_signal == SIGUSR2 ? SIGUSR2 : SIGUSR1, name);
		slurm_args_addf(args, "--signal=B:%s@%" PRId64, name, ((r->signal_before_ms + 999) / 1000));
	}
}

/* %a is the index; a percent sign of the path itself is doubled. */
static void slurm_add_output(struct slurm_args *args, const char *batch_dir)
{
	struct buf path = buf_make(BUF_UNLIMITED);
	buf_add_text(&path, "--output=");
	for (const char *p = batch_dir; *p; p++) {
		buf_add_char(&path, *p);
		if (*p == '%')
			buf_add_char(&path, '%');
	}
	buf_add_text(&path, "/%a.out");
	slurm_args_add(args, buf_text(&path));
	buf_free(&path);
}

/* Slurm takes the last --exclude it is given, so ours repeats those of the user's. */
static void slurm_add_exclude(struct slurm_args *args, const struct backend_batch *batch)
{
	const char *const *options = (const char *const *)batch->resources->options;
	struct buf list = buf_make(BUF_UNLIMITED);
	if (!batch->exclude)
		return;
	buf_add_text(&list, batch->exclude);
	for (size_t i = 0; options && options[i]; i++) {
		if (text_starts(options[i], "--exclude="))
			buf_addf(&list, ",%s", options[i] + strlen("--exclude="));
		else if (text_starts(options[i], "-x"))
			buf_addf(&list, ",%s", options[i] + 2 + strspn(options[i] + 2, " ="));
	}
	slurm_args_addf(args, "--exclude=%s", buf_text(&list));
	buf_free(&list);
}

/* The letters of the experiment's name that cannot mean anything to a shell, a header or a reader of squeue. One dash
 * stands for a run of others. */
static void slurm_add_plain(struct buf *out, const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.,";
	size_t end = out->len + SLURM_COMMENT_NAME_CHARS;
	while (*name && out->len < end) {
		bool is_plain = strchr(plain, *name) != NULL;
		buf_add_char(out, is_plain ? *name : '-');
		for (name++; !is_plain && *name && !strchr(plain, *name); name++)
			;
	}
}

/* "sluice e12 resnet, 30 tasks", for people who look at the queue. The token is in the job's name, and nothing reads the
 * comment back. The user's own comment, in the options or the template, wins. */
static void slurm_add_comment(struct slurm_args *args, const struct backend_batch *batch)
{
	const struct backend_resources *r = batch->resources;
	struct buf text = buf_make(BUF_UNLIMITED);
	if (r->template && strstr(r->template, "--comment"))
		return;
	if (batch->experiment > 0)
		buf_addf(&text, "sluice e%" PRId64 " ", batch->experiment);
	else
		buf_add_text(&text, "sluice ID "); /* a preview */
	slurm_add_plain(&text, r->name ? r->name : "");
	buf_addf(&text, "%s%zu task%s", r->name ? ", " : "", batch->count, batch->count == 1 ? "" : "s");
	slurm_args_addf(args, "--comment=%s", buf_text(&text));
	buf_free(&text);
}

int slurm_submit_args(const struct backend_batch *batch, struct slurm_args *ret, struct error *err)
{
	const struct backend_resources *r = batch->resources;
	struct problems problems = {0};

	slurm_check_words(r, NULL, &problems);
	if (problems.list.len) {
		problems_summary(&problems, err);
		problems_free(&problems);
		return -EINVAL;
	}
	if (!token_is_id(batch->token))
		return errorf(err, -EINVAL, "'%.40s' is not a token", batch->token);
	if (!batch->count)
		return errorf(err, -EINVAL, "an empty batch");
	uint32_t *indices = mem_resize(NULL, batch->count, sizeof(*indices));
	for (size_t i = 0; i < batch->count; i++)
		indices[i] = batch->items[i].index;
	char *list = slurm_format_indices(indices, batch->count);
	free(indices);

	char name[SLURM_JOB_NAME_CHARS];
	slurm_job_name(batch->experiment, batch->token, name);
	slurm_args_program(ret, "sbatch");
	slurm_add_resources(ret, r);
	slurm_add_comment(ret, batch);
	for (size_t i = 0; r->options && r->options[i]; i++)
		slurm_args_add(ret, r->options[i]);
	/* Ours come last and win. --parsable comes first among them: it is the one that may be lost, should an option of
	 * the user's lack its value and take the next word for it. */
	slurm_args_add(ret, "--parsable");
	slurm_args_addf(ret, "--job-name=%s", name);
	slurm_add_exclude(ret, batch);
	if (batch->parallel)
		slurm_args_addf(ret, "--array=%s%%%u", list, batch->parallel);
	else
		slurm_args_addf(ret, "--array=%s", list);
	slurm_args_add(ret, "--no-requeue");
	slurm_args_add(ret, "--open-mode=append");
	slurm_add_output(ret, batch->batch_dir);
	free(list);
	return 0;
}

/* The values a template may name. Texts are quoted, so that none is ever read by the shell. */
struct slurm_field_source {
	const struct backend_batch *batch;
	const char *program;
};

/* The runner knows nothing of Slurm: the names of its job and its node are set here. */
static void slurm_field_command(const struct slurm_field_source *from, struct buf *out)
{
	buf_add_text(out,
		     "env SLUICE_JOB=\"${SLURM_ARRAY_JOB_ID-}_${SLURM_ARRAY_TASK_ID-}\" "
		     "SLUICE_NODE=\"${SLURMD_NODENAME-}\" ");
	text_shell_quote(out, from->program);
	buf_add_text(out, " exec ");
	text_shell_quote(out, from->batch->batch_dir);
	buf_add_text(out, " \"$SLURM_ARRAY_TASK_ID\"");
}

static void slurm_field_run(const struct slurm_field_source *from, struct buf *out)
{
	buf_add_text(out, "exec ");
	slurm_field_command(from, out);
}

static void slurm_add_number(struct buf *out, int64_t value)
{
	buf_addf(out, "%" PRId64, value);
}

#define SLURM_FIELD(name, code)                                                                                        \
	static void slurm_field_##name(const struct slurm_field_source *from, struct buf *out)                         \
	{                                                                                                              \
		const struct backend_batch *b = from->batch;                                                           \
		(void)b;                                                                                               \
		code;                                                                                                  \
	}
SLURM_FIELD(program, text_shell_quote(out, from->program))
SLURM_FIELD(folder, text_shell_quote(out, b->batch_dir))
SLURM_FIELD(token, buf_add_text(out, b->token))
SLURM_FIELD(tasks, slurm_add_number(out, (int64_t)b->count))
SLURM_FIELD(parallel, slurm_add_number(out, b->parallel))
SLURM_FIELD(cpus, slurm_add_number(out, b->resources->cpus))
SLURM_FIELD(gpus, slurm_add_number(out, b->resources->gpus))
SLURM_FIELD(nodes, slurm_add_number(out, b->resources->nodes))
SLURM_FIELD(memory_mb, slurm_add_number(out, slurm_megabytes(b->resources->memory_bytes)))
SLURM_FIELD(minutes, slurm_add_number(out, slurm_minutes(b->resources->time_ms)))

static const struct {
	const char *name;
	void (*write)(const struct slurm_field_source *from, struct buf *out);
} slurm_fields[] = {
	{"run", slurm_field_run}, /* starts the task; nothing after it is reached */
	{"command", slurm_field_command}, /* the same as a command that returns */
	{"program", slurm_field_program}, {"folder", slurm_field_folder},     {"token", slurm_field_token},
	{"tasks", slurm_field_tasks},     {"parallel", slurm_field_parallel}, {"cpus", slurm_field_cpus},
	{"gpus", slurm_field_gpus},       {"nodes", slurm_field_nodes},       {"memory_mb", slurm_field_memory_mb},
	{"minutes", slurm_field_minutes},
};

static int slurm_unknown_field(const char *name, size_t len, struct error *err)
{
	struct buf names = buf_make(1024);
	for (size_t i = 0; i < COUNT_OF(slurm_fields); i++)
		buf_addf(&names, "%s{%s}", i ? ", " : "", slurm_fields[i].name);
	int rc = errorf(
		err, -EINVAL,
		"the template names {%.*s}, which does not exist; there are %s; write {{%.*s}} for the text itself",
		(int)(len > 100 ? 100 : len), name, buf_text(&names), (int)(len > 100 ? 100 : len), name);
	buf_free(&names);
	return rc;
}

/* Replaces the fields. `{name}` is one unless a dollar sign stands before it: ${HOME} is the shell's. */
static int slurm_fill_template(const char *text, const struct slurm_field_source *from, struct buf *out,
			       struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
	bool starts = false;

	for (const char *p = text; *p;) {
		size_t len = *p == '{' ? strspn(p + 1, letters) : 0;
		bool field = len && p[1 + len] == '}' && !(p > text && p[-1] == '$');
		bool literal = *p == '{' && p[1] == '{' && (len = strspn(p + 2, letters)) > 0 && p[2 + len] == '}' &&
			p[3 + len] == '}';
		if (literal) {
			buf_add(out, p + 1, len + 2);
			p += len + 4;
		} else if (field) {
			size_t i = 0;
			while (i < COUNT_OF(slurm_fields) &&
			       (strlen(slurm_fields[i].name) != len || memcmp(slurm_fields[i].name, p + 1, len) != 0))
				i++;
			if (i == COUNT_OF(slurm_fields))
				return slurm_unknown_field(p + 1, len, err);
			slurm_fields[i].write(from, out);
			starts |= i < 2;
			p += len + 2;
		} else {
			buf_add_char(out, *p++);
		}
	}
	if (!starts)
		return errorf(err, -EINVAL,
			      "the template never starts the task: write {run} where the task should run");
	return 0;
}

static const char slurm_builtin_template[] =
	"#!/bin/bash\n"
	"# Made by sluice. Every task of the batch runs this; what it is to do stands in the file\n"
	"# INDEX.json of the folder below.\n"
	"{run}\n";

char *slurm_batch_script(const struct backend_batch *batch, const char *program, struct error *err)
{
	struct buf out = buf_make(SLURM_SCRIPT_BYTES);
	const char *template = batch->resources->template ? batch->resources->template : slurm_builtin_template;
	struct slurm_field_source from = {batch, program};
	int rc = 0;

	if (!text_starts(template, "#!"))
		rc = errorf(err, -EINVAL, "the template must begin with a line such as #!/bin/bash");
	if (rc == 0)
		rc = slurm_fill_template(template, &from, &out, err);
	if (rc == 0 && out.full)
		rc = errorf(err, -E2BIG, "the batch script is longer than %u KiB", SLURM_SCRIPT_BYTES >> 10);
	if (rc < 0) {
		buf_free(&out);
		return NULL;
	}
	return buf_take(&out);
}

char *slurm_describe_script(const char *script, const struct slurm_args *args, const char *heading)
{
	struct buf out = buf_make(SLURM_SCRIPT_BYTES * 2);
	struct buf word = buf_make(BUF_UNLIMITED);
	size_t first = strcspn(script, "\n");
	size_t i = 0, width = 0;

	buf_add(&out, script, first);
	buf_addf(&out, "\n# %s:\n#   sbatch", heading);
	while (i < args->words.len && strcmp(args->words.at[i], "sbatch") != 0)
		i++;
	for (i++; i < args->words.len; i++) {
		buf_clear(&word);
		if (args->words.at[i][strspn(args->words.at[i],
					     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					     "0123456789-_=:,./@%+")])
			text_shell_quote(&word, args->words.at[i]);
		else
			buf_add_text(&word, args->words.at[i]);
		/* Nothing may end the comment. */
		for (size_t c = 0; c < word.len; c++)
			if ((unsigned char)word.data[c] < ' ')
				word.data[c] = '?';
		if (width && width + word.len > 96) {
			buf_add_text(&out, " \\\n#    ");
			width = 0;
		}
		buf_addf(&out, " %s", buf_text(&word));
		width += word.len + 1;
	}
	buf_add_text(&out, script[first] ? script + first : "\n");
	buf_free(&word);
	return buf_take(&out);
}
