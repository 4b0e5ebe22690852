/* The control group that a cluster made for this job, and how often the kernel ended a process in it for lack of
 * memory. A counter of the whole machine would also count processes of other jobs. */
#ifndef SPOOL_CGROUP_H
#define SPOOL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Folders of the runner's own group and of its ancestors: the ones that belong to the job only. */
struct cgroup {
	bool v2;
	char *own; /* the folder of the runner's group, below `job` or the same */
	char *job; /* the folder of the job's group */
};

/* From the texts of /proc/self/cgroup and /proc/self/mountinfo. False if the memory controller has no group that
 * belongs only to this job (no cluster, or a cluster that does not limit memory this way), or if it is not mounted
 * here. The caller frees it. */
bool cgroup_parse(const char *groups, const char *mounts, struct cgroup *ret);
void cgroup_free(struct cgroup *cgroup);
/* The folder of this process's own group of the memory controller, in a job or not; NULL if it is not mounted here. The
 * caller frees it. ret_below: how many parts its path has. */
char *cgroup_find(const char *groups, const char *mounts, bool *ret_v2, size_t *ret_below);
/* oom_kill of memory.events (v2) or memory.oom_control (v1); -1 if it is not in the text. */
int64_t cgroup_parse_kills(const char *text);

/* The same, of the group with this folder; -1 if it cannot be read. */
int64_t cgroup_read_kills(const char *folder, bool v2);
/* How often the kernel has ended a process of this job for lack of memory; -1: this cannot be known. */
int64_t cgroup_oom_kills(void);

#endif
