/* See local_trace.h. */
#include "backend/local_trace.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/proc.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define TRACE_FILE_BYTES 65536
#define TRACE_WORDS_BYTES 300
/* Larger environments are cut: ours comes early enough in any that people have. */
#define TRACE_ENVIRON_BYTES (1u << 20)
/* The most looks for what a dead runner left. */
#define TRACE_LOOKS_MOST 10

static struct node *trace_read_json(const char *batch_dir, uint32_t index, const char *suffix)
{
	char *path = mem_printf("%s/%" PRIu32 ".%s", batch_dir, index, suffix);
	struct buf text = buf_make(TRACE_FILE_BYTES);
	struct node *tree = NULL;
	if (fs_read(path, TRACE_FILE_BYTES, &text, NULL) < 0 ||
	    node_parse_json(buf_text(&text), text.len, &tree, NULL) < 0)
		tree = NULL;
	buf_free(&text);
	free(path);
	return tree;
}

static bool trace_is_silent(const char *attempt_dir)
{
	char *path = mem_printf("%s/journal", attempt_dir);
	struct stat st;
	int64_t changed = stat(path, &st) == 0 ? (int64_t)st.st_mtim.tv_sec * 1000 : 0;
	free(path);
	return clock_now_ms() - changed > TRACE_SILENT_MS;
}

void local_trace_read(const char *batch_dir, uint32_t index, const char *attempt_dir, struct local_trace *ret)
{
	struct node *claim = trace_read_json(batch_dir, index, "claim");
	const char *host = node_get_string(claim, "host"), *boot = node_get_string(claim, "boot_id");
	char here[256] = "";
	uint64_t start;

	*ret = (struct local_trace){.state = LOCAL_TRACE_NONE};
	if (!claim)
		return;
	gethostname(here, sizeof(here) - 1);
	ret->pid = (pid_t)node_get_int(claim, "pid", 0);
	snprintf(ret->host, sizeof(ret->host), "%s", host ? host : "?");
	if (host && strcmp(host, here) != 0)
		ret->state = trace_is_silent(attempt_dir) ? LOCAL_TRACE_SILENT : LOCAL_TRACE_ELSEWHERE;
	else if (boot && strcmp(boot, proc_boot_id()) != 0)
		ret->state = LOCAL_TRACE_REBOOT;
	else if (ret->pid > 0 && proc_start_time(ret->pid, &start) == 0 &&
		 (int64_t)start == node_get_int(claim, "pid_start", -1))
		ret->state = LOCAL_TRACE_ALIVE;
	else
		ret->state = LOCAL_TRACE_GONE;
	node_free(claim);
}

int local_slot_write(const char *batch_dir, uint32_t index, const struct local_slot *slot, struct error *err)
{
	char *path = mem_printf("%s/%" PRIu32 ".slot", batch_dir, index);
	struct buf text = buf_make(TRACE_FILE_BYTES);
	struct json out = json_to(&text);
	json_map(&out);
	json_key_int(&out, "cpus", slot->cpus);
	json_key_int(&out, "memory_bytes", slot->memory_bytes);
	json_key_string(&out, "gpus", slot->gpus[0] ? slot->gpus : NULL);
	json_key_int(&out, "gpus_hidden", slot->gpus_hidden);
	json_key_int(&out, "time_ms", slot->time_ms);
	json_key_int(&out, "signal_before_ms", slot->signal_before_ms);
	json_key_int(&out, "checkpoint_signal", slot->checkpoint_signal);
	json_end(&out);
	buf_add_char(&text, '\n');
	int rc = fs_write(path, text.data, text.len, 0600, false, err);
	buf_free(&text);
	free(path);
	return rc;
}

void local_slot_read(const char *batch_dir, uint32_t index, struct local_slot *ret)
{
	struct node *tree = trace_read_json(batch_dir, index, "slot");
	const char *gpus = node_get_string(tree, "gpus");
	*ret = (struct local_slot){
		.cpus = node_get_int(tree, "cpus", 1),
		.memory_bytes = node_get_int(tree, "memory_bytes", 0),
		.time_ms = node_get_int(tree, "time_ms", 0),
	};
	snprintf(ret->gpus, sizeof(ret->gpus), "%s", gpus ? gpus : "");
	node_free(tree);
}

int local_stop_write(const char *attempt_dir, struct error *err)
{
	int rc = fs_make_dirs(attempt_dir, 0700, err);
	if (rc < 0)
		return rc;
	char *path = mem_printf("%s/stop", attempt_dir);
	rc = fs_write(path, "", 0, 0600, false, err);
	free(path);
	return rc;
}

bool local_stop_exists(const char *attempt_dir)
{
	char *path = mem_printf("%s/stop", attempt_dir);
	bool exists = access(path, F_OK) == 0;
	free(path);
	return exists;
}

enum trace_owner { TRACE_OTHER, TRACE_OURS, TRACE_NOT_KNOWN };

/* Does a process have this line in its environment? Those of other users cannot be read. One that is just becoming another
 * program has memory and no environment yet. */
static enum trace_owner trace_owner_of(const char *pid, const char *variable)
{
	char path[64];
	struct buf text = buf_make(TRACE_ENVIRON_BYTES), size = buf_make(TRACE_WORDS_BYTES);
	enum trace_owner owner = TRACE_OTHER;
	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	int rc = fs_read(path, TRACE_ENVIRON_BYTES, &text, NULL);
	for (size_t at = 0; rc == 0 && at < text.len && owner == TRACE_OTHER; at += strlen(text.data + at) + 1)
		owner = strcmp(text.data + at, variable) == 0 ? TRACE_OURS : TRACE_OTHER;
	snprintf(path, sizeof(path), "/proc/%.20s/statm", pid);
	if (rc == 0 && !text.len && fs_read(path, TRACE_WORDS_BYTES, &size, NULL) == 0 && buf_text(&size)[0] > '0')
		owner = TRACE_NOT_KNOWN;
	buf_free(&text);
	buf_free(&size);
	return owner;
}

/* One look at all processes. True when another one is due: what was killed may have started something meanwhile. */
static bool trace_kill(const char *variable)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;
	bool again = false;
	while (dir && (entry = readdir(dir))) {
		if (num_parse_unsigned(entry->d_name, strlen(entry->d_name), INT32_MAX, &pid) < 0 || pid <= 1)
			continue;
		enum trace_owner owner = trace_owner_of(entry->d_name, variable);
		if (owner == TRACE_OURS)
			kill((pid_t)pid, SIGKILL);
		again |= owner != TRACE_OTHER;
	}
	if (dir)
		closedir(dir);
	return again;
}

void local_kill_leftovers(const char *attempt_dir)
{
	char *variable = mem_printf("SLUICE_REPORT=%s/report.jsonl", attempt_dir);
	for (int i = 0; i < TRACE_LOOKS_MOST && trace_kill(variable); i++)
		usleep(TRACE_LOOK_US);
	free(variable);
}

char *local_last_words(const char *batch_dir, uint32_t index)
{
	char *path = mem_printf("%s/%" PRIu32 ".out", batch_dir, index);
	struct buf text = buf_make(TRACE_FILE_BYTES), clean = buf_make(BUF_UNLIMITED);
	char *words = NULL;
	int rc = fs_read(path, TRACE_FILE_BYTES, &text, NULL);
	free(path);
	while (text.len && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == ' '))
		text.len--;
	if ((rc == 0 || rc == -E2BIG) && text.len) {
		const char *from = memrchr(text.data, '\n', text.len);
		from = from ? from + 1 : text.data;
		size_t len = text.len - (size_t)(from - text.data);
		text_utf8_clean(from, len < TRACE_WORDS_BYTES ? len : TRACE_WORDS_BYTES, &clean);
		words = buf_take(&clean);
	}
	buf_free(&text);
	return words;
}
