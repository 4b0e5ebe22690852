/* See memory.h. */
#include "node/memory.h"

#include "spool/cgroup.h"

void memory_open(struct memory *memory)
{
	*memory = (struct memory){.job_kills = cgroup_oom_kills()};
}

void memory_limit(struct memory *memory, int64_t bytes, pid_t pid, bool is_script)
{
	memory->limit_bytes = bytes;
	if (bytes > 0 && is_script && cage_make(bytes, &memory->cage) && cage_enter(&memory->cage, pid) < 0)
		cage_remove(&memory->cage);
}

const char *memory_words(const struct memory *memory)
{
	if (memory->limit_bytes <= 0)
		return NULL;
	return memory->cage.folder ? "memory is limited by the kernel, in a control group of the task's own"
				   : "memory is watched every second, not limited by the kernel";
}

bool memory_is_over(const struct memory *memory, const struct usage *usage, double *ret_used)
{
	double limit = (double)memory->limit_bytes;
	*ret_used = limit > 0 && !memory->cage.folder ? usage_memory_bytes(usage, limit) : 0;
	return *ret_used > limit;
}

bool memory_was_out(const struct memory *memory)
{
	if (memory->cage.folder && cage_kills(&memory->cage) > 0)
		return true;
	return memory->job_kills >= 0 && cgroup_oom_kills() > memory->job_kills;
}

void memory_close(struct memory *memory)
{
	cage_remove(&memory->cage);
}
