/* See local_mps.h. */
#include "backend/local_mps.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/proc.h"
#include "base/text.h"
#include "base/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MPS_PROGRAM "nvidia-cuda-mps-control"
/* Of that name the kernel keeps 15 characters. */
#define MPS_COMM "nvidia-cuda-mps"
/* Its sockets have names of up to 20 characters, and a path of a socket 107. */
#define MPS_FOLDER_CHARS 80

/* Of a command that starts or ends it. Outlives the backend if that is closed meanwhile. */
struct local_mps_start {
	struct local_mps *mps; /* NULL: it was closed */
};

static struct proc_spec mps_command(const struct local_mps *mps, const char *const *argv, const char *env[4])
{
	env[0] = mem_printf("CUDA_MPS_PIPE_DIRECTORY=%s", mps->pipe_dir);
	env[1] = mem_printf("CUDA_MPS_LOG_DIRECTORY=%s", mps->log_dir);
	env[2] = NULL;
	return (struct proc_spec){.argv = argv, .env = env, .timeout_ms = MPS_ANSWER_MS, .output_max = 1 << 16};
}

static void mps_free_env(const char *env[4])
{
	free((char *)env[0]);
	free((char *)env[1]);
}

/* Reads the number in the file that MPS itself keeps beside its sockets; it stays when MPS is killed. */
static bool mps_read_pid(const struct local_mps *mps, uint64_t *ret_pid)
{
	struct buf text = buf_make(64);
	char *path = mem_printf("%s/" MPS_PROGRAM ".pid", mps->pipe_dir);
	bool found = fs_read(path, 64, &text, NULL) == 0 &&
		num_parse_unsigned(buf_text(&text), strcspn(buf_text(&text), " \n"), INT32_MAX, ret_pid) == 0;
	buf_free(&text);
	free(path);
	return found;
}

/* Is this process a living MPS, and not another one that got the number? */
static bool mps_is_alive(uint64_t pid)
{
	struct buf text = buf_make(4096);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	const char *name = fs_read(path, 4096, &text, NULL) == 0 ? strchr(buf_text(&text), '(') : NULL;
	const char *end = name ? strrchr(name, ')') : NULL;
	bool alive = end && text_starts(name + 1, MPS_COMM) && text_starts(end, ") ") && !strchr("ZX", end[2]);
	buf_free(&text);
	return alive;
}

/* A daemon that was killed has left it running; without tasks it is ended as ever. */
static void mps_take_over(struct local_mps *mps)
{
	uint64_t pid;
	if (mps->state != LOCAL_MPS_OFF || !mps_read_pid(mps, &pid) || !mps_is_alive(pid))
		return;
	log_info("NVIDIA MPS of an earlier daemon runs in %s", mps->pipe_dir);
	mps->state = LOCAL_MPS_ON;
	local_mps_count(mps, 0);
}

/* It was killed: without it tasks would take turns, and could take each other's memory. */
static void mps_notice_death(struct local_mps *mps)
{
	uint64_t pid;
	if (mps->state != LOCAL_MPS_ON || !mps_read_pid(mps, &pid) || mps_is_alive(pid))
		return;
	log_warning("NVIDIA MPS has died (process %" PRIu64 "); it is started again", pid);
	mps->state = LOCAL_MPS_OFF;
}

void local_mps_open(struct local_mps *mps, uv_loop_t *loop, const char *state_dir, void (*changed)(void *ctx),
		    void *ctx)
{
	char hash[TOKEN_HASH_CHARS];
	token_hash(state_dir ? state_dir : "", state_dir ? strlen(state_dir) : 0, hash);
	char *root = state_dir && strlen(state_dir) < MPS_FOLDER_CHARS - 10
		? mem_printf("%s/mps", state_dir)
		: mem_printf("/tmp/sluice-mps-%ld-%.12s", (long)getuid(), hash);
	*mps = (struct local_mps){.loop = loop, .changed = changed, .ctx = ctx};
	mps->pipe_dir = mem_printf("%s/pipe", root);
	mps->log_dir = mem_printf("%s/log", root);
	mps->state = proc_in_path(MPS_PROGRAM) ? LOCAL_MPS_OFF : LOCAL_MPS_NEVER;
	mps->idle = mem_alloc(sizeof(*mps->idle));
	uv_timer_init(loop, mps->idle);
	uv_unref((uv_handle_t *)mps->idle);
	mps->idle->data = mps;
	free(root);
	mps_take_over(mps);
}

static void mps_started_cb(void *ctx, const struct proc_result *result)
{
	struct local_mps_start *start = ctx;
	struct local_mps *mps = start->mps;
	/* One that an earlier daemon left says so, and does as well. */
	bool there = strstr(buf_text(&result->out), "already running") ||
		strstr(buf_text(&result->err), "already running");
	free(start);
	if (!mps)
		return;
	mps->start = NULL;
	mps->state = (result->exit_code == 0 || there) && !result->timed_out ? LOCAL_MPS_ON : LOCAL_MPS_NEVER;
	if (mps->state == LOCAL_MPS_NEVER)
		log_warning(MPS_PROGRAM " does not start (%.300s): tasks on one GPU take turns",
			    result->err.len ? buf_text(&result->err) : buf_text(&result->out));
	else
		log_info("NVIDIA MPS runs in %s", mps->pipe_dir);
	mps->changed(mps->ctx);
}

/* A folder in /tmp may have been made by another user. */
static int mps_make_folder(const char *path, struct error *err)
{
	struct stat st;
	int rc = fs_make_dirs(path, 0700, err);
	char *root = rc == 0 ? mem_copy(path, (size_t)(strrchr(path, '/') - path)) : NULL;
	if (rc == 0 && (lstat(root, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != getuid() || st.st_mode & 0077))
		rc = errorf(err, -EPERM, "%s is not a folder that only you can open; remove it", root);
	free(root);
	return rc;
}

static void mps_start(struct local_mps *mps)
{
	static const char *const argv[] = {MPS_PROGRAM, "-d", NULL};
	const char *env[4];
	struct error err;
	mps->state = LOCAL_MPS_STARTING;
	int rc = mps_make_folder(mps->pipe_dir, &err);
	if (rc == 0)
		rc = mps_make_folder(mps->log_dir, &err);
	struct proc_spec spec = mps_command(mps, argv, env);
	mps->start = mem_alloc(sizeof(*mps->start));
	mps->start->mps = mps;
	if (rc == 0)
		rc = proc_start(mps->loop, &spec, mps_started_cb, mps->start, NULL, &err);
	mps_free_env(env);
	if (rc < 0) {
		log_warning(MPS_PROGRAM " does not start: %s; tasks on one GPU take turns", err.text);
		mps->state = LOCAL_MPS_NEVER;
		free(mps->start);
		mps->start = NULL;
	}
}

bool local_mps_want(struct local_mps *mps)
{
	uv_timer_stop(mps->idle);
	mps_notice_death(mps);
	if (mps->state == LOCAL_MPS_OFF)
		mps_start(mps);
	return mps->state != LOCAL_MPS_STARTING;
}

void local_mps_adopt(struct local_mps *mps)
{
	uv_timer_stop(mps->idle);
	if (mps->state == LOCAL_MPS_OFF)
		mps->state = LOCAL_MPS_ON;
}

static struct proc_spec mps_quit_command(const struct local_mps *mps, const char *env[4])
{
	static const char *const argv[] = {MPS_PROGRAM, NULL};
	struct proc_spec spec = mps_command(mps, argv, env);
	spec.input = "quit\n";
	spec.input_len = 5;
	return spec;
}

/* When the daemon ends: waits for the answer. */
static void mps_quit_now(const struct local_mps *mps)
{
	const char *env[4];
	struct error err;
	struct proc_result result = {0};
	struct proc_spec spec = mps_quit_command(mps, env);
	if (proc_run(&spec, &result, &err) < 0)
		log_warning(MPS_PROGRAM " cannot be ended: %s", err.text);
	proc_result_free(&result);
	mps_free_env(env);
}

static void mps_ended_cb(void *ctx, const struct proc_result *result)
{
	struct local_mps_start *start = ctx;
	struct local_mps *mps = start->mps;
	(void)result;
	free(start);
	if (!mps)
		return;
	mps->start = NULL;
	mps->state = LOCAL_MPS_OFF;
	mps->changed(mps->ctx);
}

/* Until it has ended, no task can be given to it: as while it starts. */
static void mps_quit(struct local_mps *mps)
{
	const char *env[4];
	struct error err;
	struct proc_spec spec = mps_quit_command(mps, env);
	mps->state = LOCAL_MPS_STARTING;
	mps->start = mem_alloc(sizeof(*mps->start));
	mps->start->mps = mps;
	if (proc_start(mps->loop, &spec, mps_ended_cb, mps->start, NULL, &err) < 0) {
		log_warning(MPS_PROGRAM " cannot be ended: %s", err.text);
		mps->state = LOCAL_MPS_ON;
		free(mps->start);
		mps->start = NULL;
	}
	mps_free_env(env);
}

static void mps_idle_cb(uv_timer_t *timer)
{
	struct local_mps *mps = timer->data;
	if (mps->state == LOCAL_MPS_ON)
		mps_quit(mps);
}

void local_mps_count(struct local_mps *mps, size_t tasks)
{
	if (tasks || mps->state != LOCAL_MPS_ON)
		uv_timer_stop(mps->idle);
	else if (!uv_is_active((uv_handle_t *)mps->idle))
		uv_timer_start(mps->idle, mps_idle_cb, MPS_IDLE_MS, 0);
}

static void mps_closed_cb(uv_handle_t *handle)
{
	free(handle);
}

void local_mps_close(struct local_mps *mps, bool in_use)
{
	if (!mps->idle)
		return;
	if (mps->state == LOCAL_MPS_ON && !in_use)
		mps_quit_now(mps);
	if (mps->start)
		mps->start->mps = NULL;
	uv_timer_stop(mps->idle);
	uv_close((uv_handle_t *)mps->idle, mps_closed_cb);
	mps->idle = NULL;
	free(mps->pipe_dir);
	free(mps->log_dir);
}
