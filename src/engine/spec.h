/* A checked experiment: the content of the experiment file (docs/internals/experiment.md), with all defaults filled
 * in. */
#ifndef ENGINE_SPEC_H
#define ENGINE_SPEC_H

#include "backend/backend.h"
#include "search/prune.h"
#include "search/search.h"
#include "space/space.h"

/* POSITIONAL: the experiment, the task, then the values. VALUES: only the values. */
enum spec_pass {
	SPEC_PASS_FLAGS,
	SPEC_PASS_POSITIONAL,
	SPEC_PASS_ENV,
	SPEC_PASS_JSON,
	SPEC_PASS_OVERRIDES,
	SPEC_PASS_VALUES
};
/* AUTO is replaced when the experiment is created (fit.h): then `arguments` has every flag that does not use dashes. */
enum spec_style { SPEC_STYLE_AUTO, SPEC_STYLE_DASH, SPEC_STYLE_UNDERSCORE };
enum spec_take { SPEC_TAKE_BEST, SPEC_TAKE_LAST, SPEC_TAKE_MEAN };

struct spec_objective {
	char *metric;
	bool maximise;
	enum spec_take take;
	int64_t mean_of; /* rows, for SPEC_TAKE_MEAN */
};

/* A limit on a metric, which may be an objective as well. */
struct spec_limit {
	struct spec_objective of; /* what is compared, and how it is read */
	bool at_least; /* else at most */
	double bound; /* of time in seconds, of energy in joules */
};

struct spec_variable {
	char *name, *value;
};

/* How one parameter is passed; the forms are in call.h. */
struct spec_argument {
	char *name, *how;
};

/* In `files`: the tracked files of the git work tree, which the client has sent. */
#define SPEC_GIT "git"

struct spec {
	char *name, *description;
	char *script; /* path relative to the experiment's files; NULL when there is a command */
	char *subcommand; /* words between the script and the values: "train"; NULL */
	char **command; /* NULL-terminated; NULL when there is a script */
	char **files; /* further files; NULL-terminated, may be empty */
	int64_t copy_limit_bytes; /* larger files are linked into the work folders of tasks, not copied */
	struct space *space;
	struct search_spec *search;
	struct prune_spec prune;
	struct spec_objective *objectives;
	size_t objective_count; /* 0: chosen from what the first task reports */
	struct spec_limit *limits;
	size_t limit_count;
	bool objective_chosen; /* chosen like this, not named by the user */
	uint64_t repeats;
	enum spec_pass pass;
	enum spec_style style; /* of flags */
	bool spaced; /* --lr 0.1 instead of --lr=0.1 */
	struct spec_argument *arguments; /* parameters that are passed in a different way */
	size_t argument_count;
	VEC(char *) cautions; /* warnings from reading the script; set by fit_check */
	VEC(char *) chosen; /* what was chosen automatically and why, in words; set by fit_document and fit_check */
	struct node *metrics; /* where they are, as metrics/place.h says; NULL: found automatically */
	char *python; /* environment.python; NULL: auto */
	char **modules; /* environment.modules; NULL-terminated, may be empty; NULL: those of the caller */
	char **keep; /* names and patterns of variables to take from the submitting shell; NULL-terminated; NULL */
	bool cpus_asked; /* resources.cpus is in the file */
	char **setup; /* shell lines; NULL-terminated, may be empty */
	struct spec_variable *vars;
	size_t var_count;
	char *backend; /* a name in backend_table, or "auto" */
	struct backend_resources resources;
	int64_t retry[RETRY_COUNT]; /* how often, by enum retry. RETRY_TIME: -1 where the file does not say */
	double retry_factor
		[RETRY_COUNT]; /* each retry asks for this many times as much as the one before; 1: the same */
	struct {
		char *metric; /* stop the experiment when: metric OP value */
		char op[3];
		double value;
		int64_t wall_ms;
		double gpu_hours, energy_j;
		int64_t failures; /* pause after so many of one kind in a row; 0: never, -1: not set (streak.h) */
	} stop; /* 0 and NULL: not asked for */
	struct {
		double times; /* 0: the default */
		int64_t after_ms; /* 0: by times */
		bool ends; /* a task that makes no progress is ended */
		int64_t restarts; /* and run again so often, unless retry says how often */
	} stall;
	char *power_limit; /* of each GPU of a task: "300" (watts) or "auto"; NULL: as it is */
	long steps_param; /* the parameter that holds the number of epochs; -1 */
	enum spec_warm { SPEC_WARM_AUTO, SPEC_WARM_ON, SPEC_WARM_OFF } warm; /* start from a keeper: node/warm.h */
	struct node *normal; /* the experiment as a document, with the name filled in */
};

/* Adds everything that is wrong with the document to problems. Returns 0 and sets *ret only if nothing is wrong. */
int spec_parse(const struct node *document, struct problems *problems, struct spec **ret) MUST_USE;
void spec_free(struct spec *spec);
static inline bool spec_passes_places(const struct spec *spec)
{
	return spec->pass == SPEC_PASS_POSITIONAL || spec->pass == SPEC_PASS_VALUES;
}
/* Does sluice measure this itself? */
static inline bool spec_is_measured(const char *metric)
{
	return strcmp(metric, "time") == 0 || strcmp(metric, "energy") == 0;
}
/* The script, or the program of the command. */
static inline const char *spec_program(const struct spec *spec)
{
	return spec->script ? spec->script : spec->command ? spec->command[0] : NULL;
}

#endif
