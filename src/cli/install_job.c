/* Keeps the daemon alive by a job of the cluster, where neither systemd nor cron may be used. The daemon must run on this
 * host, where its socket is. So the job, on whatever node it runs, starts it here by ssh. It takes a second, and submits
 * itself again to begin ten minutes later. scrontab would do the same, but not every Slurm has it. */
#include "cli/install_way.h"

#include "base/fs.h"
#include "base/proc.h"
#include "base/sum.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define JOB_WHY_BYTES 4096
#define JOB_SSH "ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"

/* The script that is submitted. */
static char *job_path(const char *keep)
{
	return mem_printf("%s-job", keep);
}

/* Why the last job could not submit the next one; no such file: it could. */
static char *job_failed_path(const char *keep)
{
	return mem_printf("%s-job.failed", keep);
}

/* The job's name: one for each state folder. */
static char *job_name(const char *keep)
{
	uint64_t sum = SUM_EMPTY;
	sum_add_text(&sum, keep);
	return mem_printf("sluice-keeper-%08" PRIx32, (uint32_t)(sum ^ sum >> 32));
}

static void job_host(char host[static 256])
{
	if (gethostname(host, 255) < 0)
		snprintf(host, 256, "localhost");
}

/* Another one that waits is enough: so two never become more, whatever the controller forgets or starts twice. */
static void job_text(const char *keep, struct buf *out)
{
	static const char *const names[] = {"PATH", "SLURM_CONF", "SBATCH_PARTITION", "SBATCH_ACCOUNT", "SBATCH_QOS"};
	struct buf command = buf_make(BUF_UNLIMITED);
	char host[256] = "", *name = job_name(keep), *path = job_path(keep);
	job_host(host);
	text_shell_quote(&command, keep);
	buf_add_text(&command, " daemon start");
	const char *slash = strrchr(keep, '/');
	char *failed = job_failed_path(keep);
	char *log = mem_printf("%.*s/daemon.log", slash ? (int)(slash - keep) : 1, slash ? keep : ".");
	buf_addf(out,
		 "#!/bin/sh\n#SBATCH --job-name=%s\n#SBATCH --comment=\"sluice: starts its daemon on %s again\"\n"
		 "#SBATCH --ntasks=1\n#SBATCH --mem=64M\n#SBATCH --time=5\n#SBATCH --output=/dev/null\n"
		 "#SBATCH --no-requeue\n# Written by 'sluice daemon install'.",
		 name, host);
	install_add_environment(out, names, COUNT_OF(names));
	buf_add_text(out, "\n[ -x ");
	text_shell_quote(out, keep);
	buf_addf(out,
		 " ] || exit 0 # uninstalled\nset -f\nfor try in 1 2 3 4 5; do\n\twhy=\n"
		 "\t[ -z \"$(squeue -h -t PD -u \"$(id -u)\" -n %s -o %%A)\" ] || break\n"
		 "\twhy=$(sbatch --begin=now+10minutes ",
		 name);
	text_shell_quote(out, path);
	buf_add_text(out,
		     " 2>&1 >/dev/null) && why= && break\n"
		     "\tset -- ${why:-sbatch failed and gave no reason}\n\twhy=$*\n\tsleep 20\ndone\n"
		     "if [ -n \"$why\" ]; then\n\tprintf '%s\\n' \"$why\" >");
	text_shell_quote(out, failed);
	buf_add_text(out,
		     "\n\tprintf '%s error: the job that starts the daemon again could not be submitted: %s\\n' "
		     "\"$(date -u +%Y-%m-%dT%H:%M:%S.000Z)\" \"$why\" >>");
	text_shell_quote(out, log);
	buf_add_text(out, "\nelse\n\trm -f ");
	text_shell_quote(out, failed);
	buf_addf(out, "\nfi\nexec ssh -o BatchMode=yes -o ConnectTimeout=20 %s ", host);
	text_shell_quote(out, buf_text(&command));
	buf_add_char(out, '\n');
	buf_free(&command);
	free(log);
	free(failed);
	free(path);
	free(name);
}

/* The home folder is the same on the nodes: what lets in from here lets in from there, too. */
static int job_works(const char *keep, struct error *err)
{
	static const char *const needed[] = {"sbatch", "squeue", "ssh"};
	char host[256] = "";
	(void)keep;
	for (size_t i = 0; i < COUNT_OF(needed); i++)
		if (!proc_in_path(needed[i]))
			return errorf(err, -ENOENT, "%s is not in PATH", needed[i]);
	job_host(host);
	const char *const argv[] = {JOB_SSH, host, "true", NULL};
	int rc = install_run(argv, NULL, NULL, err);
	if (rc < 0) {
		struct error why = *err;
		errorf(err, rc, "a job could not start the daemon here without a password: %s", why.text);
	}
	return rc;
}

/* How many of its jobs wait or run; -1: not known. */
static int job_count(const char *keep)
{
	char *name = job_name(keep), user[24];
	struct buf out = buf_make(BUF_UNLIMITED);
	struct error err;
	snprintf(user, sizeof(user), "%u", (unsigned)getuid());
	const char *const argv[] = {"squeue", "-h", "-u", user, "-n", name, "-o", "%A", NULL};
	int count = -1;
	if (proc_in_path("squeue") && install_run(argv, NULL, &out, &err) == 0)
		for (size_t i = count = 0; i < out.len; i++)
			count += out.data[i] == '\n';
	buf_free(&out);
	free(name);
	return count;
}

static bool job_is_installed(const char *keep)
{
	char *path = job_path(keep);
	bool there = access(path, F_OK) == 0;
	free(path);
	return there;
}

static bool job_has(const char *keep)
{
	return job_is_installed(keep) && job_count(keep) > 0;
}

/* Each job submits the next one before it ends: none means that this failed, or that it was cancelled. */
static bool job_is_lost(const char *keep, struct buf *ret_why)
{
	if (!job_is_installed(keep) || job_count(keep) != 0)
		return false;
	char *failed = job_failed_path(keep);
	if (ret_why && fs_read(failed, JOB_WHY_BYTES, ret_why, NULL) < 0)
		buf_add_text(ret_why, "it was cancelled, or could not run");
	if (ret_why && ret_why->len && ret_why->data[ret_why->len - 1] == '\n')
		ret_why->data[--ret_why->len] = 0;
	free(failed);
	return true;
}

static void job_plan(const char *keep)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	char *path = job_path(keep);
	job_text(keep, &text);
	printf("write %s:\n\n%s\nsubmit it: sbatch %s\n", path, buf_text(&text), path);
	buf_free(&text);
	free(path);
}

static int job_remove(const char *keep, struct error *err)
{
	char *path = job_path(keep), *failed = job_failed_path(keep), *name = job_name(keep), user[24];
	snprintf(user, sizeof(user), "%u", (unsigned)getuid());
	const char *const argv[] = {"scancel", "-u", user, "-n", name, NULL};
	int rc = install_run(argv, NULL, NULL, err);
	if (rc == 0 && unlink(path) < 0 && errno != ENOENT)
		rc = errorf(err, -errno, "%s: %s", path, strerror(errno));
	if (rc == 0)
		unlink(failed);
	free(failed);
	free(name);
	free(path);
	return rc;
}

static int job_install(const char *keep, struct error *err)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct error ignored;
	char *path = job_path(keep);
	const char *const argv[] = {"sbatch", path, NULL};
	job_text(keep, &text);
	int rc = job_is_installed(keep) ? job_remove(keep, err) : 0; /* its text may be another one now */
	if (rc == 0)
		rc = fs_write(path, text.data, text.len, 0700, false, err);
	if (rc == 0)
		rc = install_run(argv, NULL, NULL, err);
	if (rc < 0 && job_remove(keep, &ignored) < 0)
		unlink(path); /* nothing half done stays */
	buf_free(&text);
	free(path);
	return rc;
}

const struct install_way install_job = {
	.name = "job",
	.why = "a small job of the cluster looks every 10 minutes, and starts the daemon here by ssh",
	.works = job_works,
	.has = job_has,
	.is_lost = job_is_lost,
	.plan = job_plan,
	.install = job_install,
	.remove = job_remove,
};
