/* What the accounting lets this user submit: associations and QOS as sacctmgr prints them. See slurm_text.h. */
#include "backend/slurm_text.h"

#include "base/num.h"

/* sacctmgr separates with a bar and has no option for anything else. */
#define BAR '|'

const char slurm_associations_format[] =
	"format=DefaultAccount,Cluster,Account,Partition,DefaultQOS,QOS,MaxSubmit,GrpSubmit";
enum {
	ASSOC_DEFAULT,
	ASSOC_CLUSTER,
	ASSOC_ACCOUNT,
	ASSOC_PARTITION,
	ASSOC_DEFAULT_QOS,
	ASSOC_QOS,
	ASSOC_MAX,
	ASSOC_GROUP,
	ASSOC_FIELDS
};

const char slurm_qos_format[] = "format=Name,MaxSubmitPU,MaxSubmitPA,GrpSubmit";
enum { QOS_NAME, QOS_USER, QOS_ACCOUNT, QOS_GROUP, QOS_FIELDS };

static uint64_t slurm_smaller(uint64_t a, uint64_t b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}

/* The smallest of the limits in the fields; 0 when none is set. */
static uint64_t slurm_smallest(char **field, int count)
{
	uint64_t smallest = 0, limit;
	for (int i = 0; i < count; i++)
		if (num_parse_unsigned(field[i], strlen(field[i]), UINT32_MAX, &limit) == 0)
			smallest = slurm_smaller(smallest, limit ? limit : 1);
	return smallest;
}

void slurm_associations_parse(const char *text, size_t len, const char *cluster, struct slurm_limits *to)
{
	char *copy = slurm_copy_text(text, len), *at = copy, *field[ASSOC_FIELDS];
	int count;
	while ((count = slurm_next_row(&at, BAR, field, ASSOC_FIELDS)) >= 0) {
		if (count != ASSOC_FIELDS || !field[ASSOC_ACCOUNT][0] ||
		    (cluster && strcmp(field[ASSOC_CLUSTER], cluster) != 0))
			continue;
		struct slurm_association assoc = {
			.account = mem_strdup(field[ASSOC_ACCOUNT]),
			.partition = mem_strdup(field[ASSOC_PARTITION]),
			.default_qos = mem_strdup(field[ASSOC_DEFAULT_QOS]),
			.qos = mem_strdup(field[ASSOC_QOS]),
			.is_default = strcmp(field[ASSOC_ACCOUNT], field[ASSOC_DEFAULT]) == 0,
			.submit_limit = slurm_smallest(field + ASSOC_MAX, ASSOC_FIELDS - ASSOC_MAX),
		};
		vec_push(&to->associations, assoc);
	}
	free(copy);
}

void slurm_qos_parse(const char *text, size_t len, struct slurm_limits *to)
{
	char *copy = slurm_copy_text(text, len), *at = copy, *field[QOS_FIELDS];
	int count;
	while ((count = slurm_next_row(&at, BAR, field, QOS_FIELDS)) >= 0) {
		if (count != QOS_FIELDS || !field[QOS_NAME][0])
			continue;
		struct slurm_qos qos = {.name = mem_strdup(field[QOS_NAME]),
					.submit_limit = slurm_smallest(field + QOS_USER, QOS_FIELDS - QOS_USER)};
		vec_push(&to->qos, qos);
	}
	free(copy);
}

uint64_t slurm_submit_limit(const struct slurm_limits *limits, const char *account, const char *qos)
{
	uint64_t smallest = 0;
	for (size_t i = 0; i < limits->associations.len; i++) {
		const struct slurm_association *a = &limits->associations.at[i];
		if (account ? strcmp(a->account, account) != 0 : !a->is_default)
			continue;
		smallest = slurm_smaller(smallest, a->submit_limit);
		if (!qos && a->default_qos[0])
			qos = a->default_qos;
	}
	for (size_t i = 0; i < limits->qos.len; i++)
		if (strcmp(limits->qos.at[i].name, qos ? qos : "normal") == 0)
			smallest = slurm_smaller(smallest, limits->qos.at[i].submit_limit);
	return smallest;
}

const char *slurm_default_account(const struct slurm_limits *limits)
{
	for (size_t i = 0; i < limits->associations.len; i++)
		if (limits->associations.at[i].is_default)
			return limits->associations.at[i].account;
	return NULL;
}

bool slurm_account_allowed(const struct slurm_limits *limits, const char *account)
{
	for (size_t i = 0; i < limits->associations.len; i++)
		if (strcmp(limits->associations.at[i].account, account) == 0)
			return true;
	return limits->associations.len == 0;
}

/* Several associations of an account differ by partition, and Slurm may yet choose. "+high" changes the account's own list,
 * which is not known here. */
const char *slurm_qos_of(const struct slurm_limits *limits, const char *account)
{
	const char *found = NULL;
	for (size_t i = 0; i < limits->associations.len; i++) {
		const struct slurm_association *a = &limits->associations.at[i];
		if (account ? strcmp(a->account, account) != 0 : !a->is_default)
			continue;
		if (!a->qos[0] || strchr("+-", a->qos[0]) || (found && strcmp(found, a->qos) != 0))
			return NULL;
		found = a->qos;
	}
	return found;
}

bool slurm_qos_exists(const struct slurm_limits *limits, const char *qos)
{
	for (size_t i = 0; i < limits->qos.len; i++)
		if (strcmp(limits->qos.at[i].name, qos) == 0)
			return true;
	return limits->qos.len == 0;
}

bool slurm_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ",");
		if (n == len && memcmp(p, word, len) == 0)
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}

void slurm_limits_free(struct slurm_limits *limits)
{
	for (size_t i = 0; i < limits->associations.len; i++) {
		free(limits->associations.at[i].account);
		free(limits->associations.at[i].partition);
		free(limits->associations.at[i].default_qos);
		free(limits->associations.at[i].qos);
	}
	for (size_t i = 0; i < limits->qos.len; i++)
		free(limits->qos.at[i].name);
	free(limits->associations.at);
	free(limits->qos.at);
	*limits = (struct slurm_limits){0};
}
