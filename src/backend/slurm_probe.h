/* The test job of `sluice doctor` on a compute node (it takes a second), and the meaning of its answer. Pure: text in,
 * text and findings out; slurm_doctor.c submits and waits. */
#ifndef BACKEND_SLURM_PROBE_H
#define BACKEND_SLURM_PROBE_H

#include "backend/backend.h"

/* What was found so far; texts are owned. */
struct slurm_findings {
	VEC(struct backend_finding) list;
};
/* fix NULL: nothing to do. */
void slurm_find(struct slurm_findings *findings, const char *level, const char *fix, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
void slurm_findings_free(struct slurm_findings *findings);

struct slurm_probe {
	const char *folder; /* the job's own, in the state folder: it writes `answer` there */
	const char *token;
	const char *program; /* what the tasks of an experiment would run */
	const char *daemon; /* "http://127.0.0.1:54322"; NULL: no daemon listens */
};

/* The batch script. It starts the real runner twice for item 0 of the folder: the claim must stop the second one. The
 * caller frees it. */
char *slurm_probe_script(const struct slurm_probe *probe);
/* Makes the folder and the descriptor of item 0. */
int slurm_probe_prepare(const struct slurm_probe *probe, struct error *err) MUST_USE;
/* The folder of its attempt. The caller frees it. */
char *slurm_probe_attempt_dir(const char *folder);

/* What came back. */
struct slurm_probe_result {
	const char *answer; /* the text of `answer` */
	const char *journal; /* what is seen of the journal from here; "" */
	size_t journal_len;
	const char *boot_id; /* of this machine */
	int64_t began_ms, now_ms;
};
/* True if the whole journal is visible here, or if it will never be, because the answer says that no runner wrote
 * it. */
bool slurm_probe_is_complete(const struct slurm_probe_result *result);
void slurm_probe_explain(const struct slurm_probe *probe, const struct slurm_probe_result *result,
			 struct slurm_findings *findings);

#endif
