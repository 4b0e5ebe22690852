/* The parameters of an experiment: their values, their conditions, and the mapping to and from the unit cube, on which
 * the strategies work. */
#ifndef SPACE_SPACE_H
#define SPACE_SPACE_H

#include "base/error.h"
#include "base/json.h"
#include "base/node.h"

enum space_kind { SPACE_CONSTANT, SPACE_CHOICE, SPACE_REAL, SPACE_INT };

enum space_value_kind {
	SPACE_VALUE_NONE, /* the parameter does not apply here: its condition is not met, or it is optional and was left out */
	SPACE_VALUE_BOOL,
	SPACE_VALUE_INT,
	SPACE_VALUE_REAL,
	SPACE_VALUE_TEXT,
};

struct space_value {
	enum space_value_kind kind;
	bool boolean;
	int64_t integer;
	double real; /* also set for INT */
	const char *text; /* owned by the space */
};

/* Applies only where the parameter `parent` has one of these values. Several conditions: all. */
struct space_condition {
	size_t parent;
	struct space_value *values;
	size_t count;
};

struct space_param {
	char *name;
	enum space_kind kind;
	struct space_value *choices; /* CHOICE; a CONSTANT has one */
	size_t choice_count;
	double min, max; /* REAL and INT */
	double step; /* 0: none. INT has at least 1, unless it has points */
	uint64_t points; /* a range given by `points`: its values are the choices, ascending; 0: none */
	bool log;
	bool categorical; /* the user says that the choices are labels, even if all of them are numbers */
	bool ordered; /* a range, or choices that are all numbers: points close in the cube have close values */
	size_t *ranks; /* ordered CHOICE: the choices by ascending value; NULL: in the order of the file */
	bool optional; /* a configuration that was given may lack it; every proposal has it */
	bool has_default;
	struct space_value fallback; /* `default`: what the search tries first */
	uint64_t cardinality; /* see space_cardinality */
	double low, span; /* where the axis starts and how long it is, on its scale */
	struct space_condition *conditions;
	size_t condition_count;
};

struct space {
	struct space_param *params; /* in the order of the file */
	size_t count;
	size_t *dims; /* indices of the params that vary: the axes of the unit cube */
	size_t dim_count;
	struct space_expr **constraints;
	size_t constraint_count;
	size_t *order; /* params so that every parent comes before its children */
};

/* `parameters` is the map of the experiment file (NULL: no parameters), `constraints` its list (NULL:
 * none). Adds everything that is wrong to problems; 0 and *ret only when nothing was. */
int space_parse(const struct node *parameters, const struct node *constraints, struct problems *problems,
		struct space **ret) MUST_USE;
void space_free(struct space *space);
/* Index of a parameter, or -1. */
long space_find(const struct space *space, const char *name);

/* unit has dim_count coordinates in [0,1]; values has count entries. Parameters whose condition is
 * not met become NONE. Constants are filled in. */
void space_decode(const struct space *space, const double *unit, struct space_value *values);
/* The inverse: gives the middle of the cell of each value; 0.5 for NONE. */
void space_encode(const struct space *space, const struct space_value *values, double *unit);
/* Do the values satisfy all constraints? (A constraint that names an inactive parameter does not
 * apply.) */
bool space_allows(const struct space *space, const struct space_value *values);
bool space_equal(const struct space *space, const struct space_value *a, const struct space_value *b);
/* A hash, equal for equal configurations. Used for sets of configurations that were tried. */
uint64_t space_hash(const struct space *space, const struct space_value *values);

/* The number of distinct configurations (conditions and constraints taken into account), or
 * UINT64_MAX when the space is not finite, has more than `most`, or takes too long to count (the
 * walk over the parameters that conditions and constraints name is bounded). */
uint64_t space_count(const struct space *space, uint64_t most);
/* Walks the Cartesian product in the order of the file (a parent before its children), the last
 * parameter fastest, each distinct allowed configuration once. *cursor starts at 0 and counts;
 * `values` must still hold what the call before left there. False at the end, and for a space that
 * is not finite. */
bool space_next(const struct space *space, uint64_t *cursor, struct space_value *values);
/* How many values a parameter has (1: it does not vary); 0 when infinite. */
uint64_t space_cardinality(const struct space_param *param);
/* Does the parameter apply, given the values of those before it in space->order? */
bool space_applies(const struct space *space, size_t param, const struct space_value *values);

/* One value; null where there is none. */
void space_write_value(const struct space_value *value, struct json *out);
/* A JSON map of the active values, in the order of the file. */
void space_write_values(const struct space *space, const struct space_value *values, struct json *out);
/* Reads such a map back (for replay, imports, `suggest`): every name known, every value in the space. What is optional
 * may be left out. */
int space_read_values(const struct space *space, const struct node *map, struct space_value *ret_values,
		      struct problems *problems) MUST_USE;
/* The same for values of the right type that may lie outside the space. *ret_outside: one of them does. Texts belong to
 * the map. */
int space_read_any(const struct space *space, const struct node *map, struct space_value *ret_values, bool *ret_outside,
		   struct problems *problems) MUST_USE;
/* The value of one parameter that equals a scalar of a document. 0, -EINVAL where the scalar has the
 * wrong type, -ERANGE where the parameter cannot take that value. */
int space_match(const struct space_param *param, const struct node *scalar, struct space_value *ret) MUST_USE;
/* The text of a value as a script sees it: "0.001", "adam", "true". */
void space_format_value(const struct space_value *value, struct buf *out);
/* "did you mean 'step'?", or "one of: min, max, step": the remedy for a word that is none of `words`
 * (ends with NULL; empty where they are parameters and there are none). The caller frees it. */
char *space_unknown_remedy(const char *word, const char *const *words);
/* The "parameters" array of the experiment detail (docs/internals/rest.md). */
void space_write_json(const struct space *space, struct json *out);

#endif
