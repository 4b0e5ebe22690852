/* The commands given to Slurm, as argument vectors, and the batch script. Pure: nothing is run here. No text from a
 * user gets into the header of a script: names are tokens, and everything else is an argument. */
#ifndef BACKEND_SLURM_COMMAND_H
#define BACKEND_SLURM_COMMAND_H

#include "backend/backend.h"
#include "backend/slurm_text.h"

/* A growing argument vector that owns its words. */
struct slurm_args {
	VEC(char *) words; /* NULL-terminated by slurm_args_done */
};
void slurm_args_add(struct slurm_args *args, const char *word);
void slurm_args_addf(struct slurm_args *args, const char *fmt, ...) PRINTF_LIKE(2, 3);
const char *const *slurm_args_done(struct slurm_args *args);
void slurm_args_free(struct slurm_args *args);

/* Adds `env -u …` to remove variables that would change the program's behaviour (SQUEUE_STATES, SCANCEL_INTERACTIVE,
 * …). For all programs but sbatch it also sets the locale and the time format; not for sbatch, because its environment
 * becomes the job's. */
void slurm_args_program(struct slurm_args *args, const char *program);

/* "0-9,12": sorted, without repeats. The caller frees it. */
char *slurm_format_indices(const uint32_t *indices, size_t count);

/* The node to blame: the member where it is there, else the whole map. */
const struct node *slurm_at(const struct node *at, const char *key);
/* Everything wrong with the options, the template and the texts among the resources; `at` as in backend_ops.check. */
void slurm_check_words(const struct backend_resources *resources, const struct node *at, struct problems *problems);

/* The command that submits the batch. -EINVAL when slurm_check_words would object. */
int slurm_submit_args(const struct backend_batch *batch, struct slurm_args *ret, struct error *err) MUST_USE;
/* The script for the batch, made from the user's template if there is one. The caller frees it. NULL with err: a field
 * the template names does not exist, or it never starts the task. */
char *slurm_batch_script(const struct backend_batch *batch, const char *program, struct error *err);
/* The script with the heading and the command in comments after its first line, for people to read. The caller frees
 * it. */
char *slurm_describe_script(const char *script, const struct slurm_args *args, const char *heading);

#endif
