/* See gpus.h. The helper is started out of memory (memfd_create): so there is no file that has to be written, found,
 * cleaned up or trusted on any node, and a temporary folder without permission to execute does not matter. */
#include "node/gpus.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pace.h"
#include "node/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern const unsigned char nvml_helper[], nvml_helper_end[];
extern char **environ;

#define GPUS_LINE_BYTES (1u << 17)
#define GPUS_DRM "/sys/class/drm"
#define GPUS_MFD_EXEC 0x10u /* MFD_EXEC, which older headers do not have */

enum gpus_kind { GPUS_HELPER, GPUS_SMI, GPUS_AMD, GPUS_NONE };

struct gpus {
	enum gpus_kind kind;
	char *ids, *limit;
	pid_t pid;
	int in, out; /* what we write to it, and read from it; -1 */
	struct buf text; /* read, and not a whole line yet */
	bool asked;
	size_t smi_count; /* GPUs in the list: nvidia-smi gives a line for each */
	struct gpu_readings *partial; /* of nvidia-smi */
	struct error why; /* the first reader that failed */
};

struct gpus_list gpus_list_find(const char *assigned)
{
	static const char *const amd[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"};
	struct gpus_list list = {.ids = assigned ? assigned : getenv("CUDA_VISIBLE_DEVICES")};
	for (size_t i = 0; !assigned && i < COUNT_OF(amd); i++) {
		const char *value = getenv(amd[i]);
		if (value && *value)
			list = (struct gpus_list){.ids = value, .amd = true};
	}
	bool none = !list.ids || !*list.ids || strcmp(list.ids, "NoDevFiles") == 0 || strcmp(list.ids, "-1") == 0;
	return none ? (struct gpus_list){0} : list;
}

/* The child's side: only calls that are safe after a fork. */
static void gpus_become(int in, int out, int program, const char *const argv[])
{
	int null = open("/dev/null", O_RDWR);
	launch_reset_signals(); /* the runner blocks SIGTERM, which ends nvidia-smi */
	if (setsid() < 0 || dup2(in < 0 ? null : in, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		_exit(127);
	if (program >= 0)
		fexecve(program, (char **)argv, environ);
	else
		execvp(argv[0], (char **)argv);
	_exit(127);
}

/* Starts the program in the descriptor, or argv[0] where it is -1, with pipes. `asks`: it reads stdin. */
static int gpus_start(struct gpus *gpus, int program, const char *const argv[], bool asks)
{
	int in[2] = {-1, -1}, out[2];
	if (asks && pipe2(in, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(out, O_CLOEXEC) < 0)
		goto fail_in;
	gpus->pid = fork();
	if (gpus->pid < 0)
		goto fail_out;
	if (gpus->pid == 0)
		gpus_become(in[0], out[1], program, argv);
	if (asks)
		close(in[0]);
	close(out[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	gpus->in = in[1];
	gpus->out = out[0];
	return 0;
fail_out:
	close(out[0]);
	close(out[1]);
	gpus->pid = 0;
fail_in:
	if (asks) {
		close(in[0]);
		close(in[1]);
	}
	return -EAGAIN;
}

static int gpus_start_helper(struct gpus *gpus)
{
	const char *argv[] = {"sluice-nvml", gpus->ids, gpus->limit, NULL};
	int program = memfd_create("sluice-nvml", MFD_CLOEXEC | GPUS_MFD_EXEC);
	if (program < 0 && errno == EINVAL) /* before Linux 6.3 */
		program = memfd_create("sluice-nvml", MFD_CLOEXEC);
	if (program < 0)
		return -errno;
	int rc = fs_write_all(program, nvml_helper, (size_t)(nvml_helper_end - nvml_helper));
	/* A program that is open for writing cannot be executed: the child gets it through a second, read-only one. */
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
	int readable = rc < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	close(program);
	if (readable < 0)
		return rc < 0 ? rc : -errno;
	rc = gpus_start(gpus, readable, argv, true);
	close(readable);
	return rc;
}

static int gpus_start_smi(struct gpus *gpus)
{
	char *ids = mem_printf("--id=%s", gpus->ids);
	const char *argv[] = {"nvidia-smi", ids, GPU_SMI_QUERY, "--format=csv,noheader,nounits", "--loop=5", NULL};
	gpus->smi_count = 1;
	for (const char *p = gpus->ids; (p = strchr(p, ',')); p++)
		gpus->smi_count++;
	gpus->partial = mem_alloc(sizeof(*gpus->partial));
	int rc = gpus_start(gpus, -1, argv, false);
	free(ids);
	return rc;
}

static void gpus_hang_up(struct gpus *gpus)
{
	if (gpus->in >= 0)
		close(gpus->in);
	if (gpus->out >= 0)
		close(gpus->out);
	gpus->in = gpus->out = -1;
	if (gpus->pid > 0 && gpus->kind == GPUS_SMI)
		kill(gpus->pid, SIGTERM);
	buf_clear(&gpus->text);
}

/* The next reader, after this one has failed. It is reaped with the script's orphans. */
static void gpus_fall_back(struct gpus *gpus, const struct error *why)
{
	gpus_hang_up(gpus);
	gpus->pid = 0;
	if (!*gpus->why.text)
		gpus->why = *why;
	bool smi = gpus->kind == GPUS_HELPER && strncmp(gpus->ids, "MIG-", 4) != 0;
	gpus->kind = smi && gpus_start_smi(gpus) == 0 ? GPUS_SMI : GPUS_NONE;
}

struct gpus *gpus_open(const struct gpus_list *list, const char *limit)
{
	if (!list->ids || !*list->ids)
		return NULL;
	struct gpus *gpus = mem_alloc(sizeof(*gpus));
	*gpus = (struct gpus){.in = -1, .out = -1, .text = buf_make(GPUS_LINE_BYTES)};
	gpus->ids = mem_strdup(list->ids);
	gpus->limit = limit ? mem_strdup(limit) : NULL;
	gpus->kind = list->amd ? GPUS_AMD : GPUS_HELPER;
	int rc = list->amd ? 0 : gpus_start_helper(gpus);
	if (rc < 0) {
		struct error err = {0};
		(void)errorf(&err, rc, "the helper for NVML does not start: %s", strerror(-rc));
		gpus_fall_back(gpus, &err);
	}
	return gpus;
}

void gpus_ask(struct gpus *gpus)
{
	if (gpus->kind == GPUS_HELPER && !gpus->asked && write(gpus->in, "r\n", 2) < 0)
		log_info("the helper for NVML is gone"); /* its end is seen by the reader */
	gpus->asked = true;
}

/* Reads what is there. 1: a whole line (without its newline) is at the front of the text; 0: not yet; -EPIPE: the end. */
static int gpus_fill(struct gpus *gpus, int wait_ms, size_t *ret_len)
{
	int64_t until = clock_mono_ms() + wait_ms;
	for (;;) {
		const char *end = gpus->text.len ? memchr(gpus->text.data, '\n', gpus->text.len) : NULL;
		if (end) {
			*ret_len = (size_t)(end - gpus->text.data);
			return 1;
		}
		char *to = buf_reserve(&gpus->text, 4096);
		ssize_t n = to ? read(gpus->out, to, 4096) : 0;
		if (n > 0) {
			gpus->text.len += (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return -EPIPE;
		int64_t left = until - clock_mono_ms();
		if (left <= 0)
			return 0;
		struct pollfd poller = {.fd = gpus->out, .events = POLLIN};
		(void)poll(&poller, 1, (int)left);
	}
}

/* One line a GPU; a reading is whole when every GPU had one. */
static int gpus_take_smi(struct gpus *gpus, size_t len, struct gpu_readings *ret)
{
	struct gpu_readings *partial = gpus->partial;
	if (partial->count < SAMPLE_GPUS_MAX && gpu_parse_smi(gpus->text.data, len, &partial->at[partial->count]))
		partial->count++;
	if (partial->count < gpus->smi_count && partial->count < SAMPLE_GPUS_MAX)
		return 0;
	*ret = *partial;
	partial->count = 0;
	return 1;
}

static int gpus_take_amd(const struct gpus *gpus, struct gpu_readings *ret, struct error *err)
{
	const char *p = gpus->ids;
	ret->count = 0;
	while (*p && ret->count < SAMPLE_GPUS_MAX) {
		size_t n = strcspn(p, ",");
		char *id = mem_copy(p, n), *dir = mem_printf(GPUS_DRM "/card%s", id);
		ret->count += gpu_read_amd(dir, id, &ret->at[ret->count]);
		free(dir);
		free(id);
		p += n + (p[n] == ',');
	}
	return ret->count ? 1 : errorf(err, -ENODEV, "the amdgpu driver shows no sensors of GPU %.60s", gpus->ids);
}

/* The line at the front of the text. 1: a reading is whole; 0: not yet; -EPIPE with why. */
static int gpus_take_line(struct gpus *gpus, size_t len, struct gpu_readings *ret, struct error *why)
{
	int rc = gpus->kind == GPUS_SMI                                ? gpus_take_smi(gpus, len, ret)
		: gpu_parse_helper(gpus->text.data, len, ret, why) < 0 ? -EPIPE
								       : 1;
	if (rc >= 0)
		buf_consume(&gpus->text, len + 1);
	gpus->asked &= rc <= 0;
	return rc;
}

int gpus_take(struct gpus *gpus, int wait_ms, struct gpu_readings *ret, struct error *err)
{
	int64_t until = clock_mono_ms() + wait_ms;
	bool taken = false;
	size_t len = 0;
	if (gpus->kind == GPUS_AMD)
		return gpus_take_amd(gpus, ret, err);
	while (gpus->kind != GPUS_NONE) {
		int64_t left = taken ? 0 : until - clock_mono_ms();
		struct error why = {0};
		int rc = gpus_fill(gpus, left > 0 ? (int)left : 0, &len);
		if (rc == 0)
			return taken;
		if (rc > 0)
			rc = gpus_take_line(gpus, len, ret, &why);
		else
			(void)errorf(&why, rc,
				     gpus->kind == GPUS_SMI ? "nvidia-smi gave no reading"
							    : "the helper for NVML does not start here");
		taken |= rc > 0; /* nvidia-smi talks unasked: the newest counts */
		if (rc < 0)
			gpus_fall_back(gpus, &why);
	}
	return taken ? 1 : errorf(err, -ENODEV, "%s", gpus->why.text);
}

const char *gpus_reader(const struct gpus *gpus)
{
	return gpus->kind == GPUS_HELPER ? "NVML" : gpus->kind == GPUS_SMI ? "nvidia-smi" : "amdgpu";
}

pid_t gpus_pid(const struct gpus *gpus)
{
	return gpus ? gpus->pid : 0;
}

/* Its end is the end of its output: the limits are restored then. */
static void gpus_await_end(struct gpus *gpus)
{
	size_t len;
	close(gpus->in);
	gpus->in = -1;
	int64_t until = clock_mono_ms() + SAMPLER_END_MS;
	while (clock_mono_ms() < until && gpus_fill(gpus, (int)(until - clock_mono_ms()), &len) > 0)
		buf_consume(&gpus->text, len + 1);
}

void gpus_close(struct gpus *gpus)
{
	if (!gpus)
		return;
	if (gpus->kind == GPUS_HELPER && gpus->limit)
		gpus_await_end(gpus);
	gpus_hang_up(gpus);
	buf_free(&gpus->text);
	free(gpus->partial);
	free(gpus->ids);
	free(gpus->limit);
	free(gpus);
}
