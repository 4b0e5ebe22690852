/* See install.h. A script in the state folder carries the environment of the shell that installed it (PATH, SLURM_CONF), as
 * neither systemd nor cron has it. The unit or the crontab line calls that script, and is recognised by its path. */
#include "cli/install.h"

#include "cli/install_way.h"

#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSTALL_MS 30000 /* for systemctl, loginctl, crontab, ssh and Slurm's programs */
#define INSTALL_UNIT "sluice-daemon.service"
#define INSTALL_FILE_BYTES (1u << 20)

static char *install_keep_path(const char *folder)
{
	return mem_printf("%s/keep-daemon", folder);
}

int install_run(const char *const *argv, const char *input, struct buf *out, struct error *err)
{
	struct proc_spec spec = {
		.argv = argv, .input = input, .input_len = input ? strlen(input) : 0, .timeout_ms = INSTALL_MS};
	struct proc_result result = {0};
	int rc = proc_run(&spec, &result, err);
	if (rc < 0)
		return rc;
	const char *said = buf_text(&result.err);
	if (result.timed_out)
		said = "no answer within 30 s";
	else if (!*said)
		said = "failed and gave no reason";
	if (result.exit_code != 0)
		rc = errorf(err, -EIO, "%s: %.*s", argv[0], (int)strcspn(said, "\n"), said);
	if (out)
		buf_add(out, buf_text(&result.out), result.out.len);
	proc_result_free(&result);
	return rc;
}

/* A path as systemd reads it in ExecStart. */
static void install_unit_quote(struct buf *out, const char *path)
{
	buf_add_char(out, '"');
	for (; *path; path++) {
		if (strchr("\"\\", *path))
			buf_add_char(out, '\\');
		else if (strchr("%$", *path))
			buf_add_char(out, *path);
		buf_add_char(out, *path);
	}
	buf_add_char(out, '"');
}

static char *install_unit_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (config && config[0] == '/')
		return mem_printf("%s/systemd/user/" INSTALL_UNIT, config);
	return mem_printf("%s/.config/systemd/user/" INSTALL_UNIT, home ? home : "");
}

/* Delegate: control groups of tasks are made below it. KillMode: what the daemon started trains on when the unit is stopped. A clean end is what the user wants and stays. */
static void install_unit_text(const char *keep, struct buf *out)
{
	buf_add_text(out, "[Unit]\nDescription=sluice daemon\nStartLimitIntervalSec=0\n\n[Service]\nExecStart=");
	install_unit_quote(out, keep);
	buf_add_text(
		out,
		" serve\nKillMode=process\nDelegate=memory\nRestart=on-failure\nRestartSec=60\n\n[Install]\nWantedBy=default.target\n");
}

static bool install_file_names(const char *path, const char *word)
{
	struct buf text = buf_make(INSTALL_FILE_BYTES);
	bool found = fs_read(path, INSTALL_FILE_BYTES, &text, NULL) == 0 && strstr(buf_text(&text), word);
	buf_free(&text);
	return found;
}

static bool systemd_has(const char *keep)
{
	char *path = install_unit_path();
	struct buf word = buf_make(BUF_UNLIMITED);
	install_unit_quote(&word, keep);
	bool found = install_file_names(path, buf_text(&word));
	buf_free(&word);
	free(path);
	return found;
}

static int systemd_works(const char *keep, struct error *err)
{
	static const char *const argv[] = {"systemctl", "--user", "show-environment", NULL};
	char *path = install_unit_path();
	int rc = 0;
	if (!proc_in_path("systemctl"))
		rc = errorf(err, -ENOENT, "systemctl is not in PATH");
	else if (access(path, F_OK) == 0 && !systemd_has(keep))
		rc = errorf(err, -EEXIST, "%s exists and is for another state folder", path);
	free(path);
	return rc < 0 ? rc : install_run(argv, NULL, NULL, err);
}

static void systemd_plan(const char *keep)
{
	char *path = install_unit_path();
	struct buf text = buf_make(BUF_UNLIMITED);
	install_unit_text(keep, &text);
	printf("allow your services to run without a session: loginctl enable-linger\n"
	       "write %s:\n\n%s\nstart it with the system: systemctl --user enable " INSTALL_UNIT "\n",
	       path, buf_text(&text));
	buf_free(&text);
	free(path);
}

/* --no-block: while another daemon has the folder, the unit tries again every minute until it is free. */
static int systemd_install(const char *keep, struct error *err)
{
	static const char *const linger[] = {"loginctl", "enable-linger", NULL};
	static const char *const reload[] = {"systemctl", "--user", "daemon-reload", NULL};
	static const char *const enable[] = {"systemctl", "--user", "enable", INSTALL_UNIT, NULL};
	static const char *const start[] = {"systemctl", "--user", "--no-block", "start", INSTALL_UNIT, NULL};
	char *path = install_unit_path(), *folder = mem_copy(path, strlen(path) - strlen("/" INSTALL_UNIT));
	struct buf text = buf_make(BUF_UNLIMITED);
	install_unit_text(keep, &text);
	int rc = install_run(linger, NULL, NULL, err);
	if (rc == 0)
		rc = fs_make_dirs(folder, 0755, err);
	if (rc == 0)
		rc = fs_write(path, text.data, text.len, 0644, false, err);
	if (rc == 0)
		rc = install_run(reload, NULL, NULL, err);
	if (rc == 0)
		rc = install_run(enable, NULL, NULL, err);
	if (rc == 0)
		rc = install_run(start, NULL, NULL, err);
	if (rc < 0)
		unlink(path); /* nothing half done stays */
	buf_free(&text);
	free(folder);
	free(path);
	return rc;
}

/* Lingering is left as it is: other services of the user's may need it. The running daemon goes on. */
static int systemd_remove(const char *keep, struct error *err)
{
	static const char *const disable[] = {"systemctl", "--user", "disable", INSTALL_UNIT, NULL};
	static const char *const reload[] = {"systemctl", "--user", "daemon-reload", NULL};
	char *path = install_unit_path();
	(void)keep;
	int rc = install_run(disable, NULL, NULL, err);
	if (rc == 0 && unlink(path) < 0 && errno != ENOENT)
		rc = errorf(err, -errno, "%s: %s", path, strerror(errno));
	if (rc == 0)
		rc = install_run(reload, NULL, NULL, err);
	free(path);
	return rc;
}

/* The user's crontab; empty where there is none. Any other failure must not be taken for an empty one: it is written back. */
static int crontab_read(struct buf *out, struct error *err)
{
	static const char *const argv[] = {"crontab", "-l", NULL};
	if (!proc_in_path("crontab"))
		return errorf(err, -ENOENT, "crontab is not in PATH");
	int rc = install_run(argv, NULL, out, err);
	return rc == -EIO && strstr(err->text, "no crontab for") ? 0 : rc;
}

/* The script as it stands in a crontab line, where a percent sign is special. */
static void crontab_command(const char *keep, struct buf *out)
{
	struct buf quoted = buf_make(BUF_UNLIMITED);
	text_shell_quote(&quoted, keep);
	for (const char *p = buf_text(&quoted); *p; p++) {
		if (*p == '%')
			buf_add_char(out, '\\');
		buf_add_char(out, *p);
	}
	buf_add_text(out, " daemon start");
	buf_free(&quoted);
}

static void crontab_lines(const char *keep, struct buf *out)
{
	static const char *const times[] = {"@reboot", "*/10 * * * *"};
	for (size_t i = 0; i < COUNT_OF(times); i++) {
		buf_addf(out, "%s ", times[i]);
		crontab_command(keep, out);
		buf_add_text(out, " >/dev/null 2>&1\n");
	}
}

/* Writes the crontab without our lines, and with them again where `lines` has any. */
static int crontab_change(const char *keep, const char *lines, struct error *err)
{
	static const char *const argv[] = {"crontab", "-", NULL};
	struct buf old = buf_make(BUF_UNLIMITED), fresh = buf_make(BUF_UNLIMITED), command = buf_make(BUF_UNLIMITED);
	crontab_command(keep, &command);
	int rc = crontab_read(&old, err);
	for (const char *p = buf_text(&old); rc == 0 && *p;) {
		size_t len = strcspn(p, "\n");
		const char *ours = strstr(p, buf_text(&command));
		if (!ours || ours >= p + len)
			buf_addf(&fresh, "%.*s\n", (int)len, p);
		p += len + (p[len] == '\n');
	}
	buf_add_text(&fresh, lines);
	if (rc == 0)
		rc = install_run(argv, buf_text(&fresh), NULL, err);
	buf_free(&old);
	buf_free(&fresh);
	buf_free(&command);
	return rc;
}

static bool crontab_has(const char *keep)
{
	struct buf text = buf_make(BUF_UNLIMITED), command = buf_make(BUF_UNLIMITED);
	struct error err;
	crontab_command(keep, &command);
	bool found = crontab_read(&text, &err) == 0 && strstr(buf_text(&text), buf_text(&command));
	buf_free(&text);
	buf_free(&command);
	return found;
}

static int crontab_works(const char *keep, struct error *err)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	(void)keep;
	int rc = crontab_read(&text, err);
	buf_free(&text);
	return rc;
}

static void crontab_plan(const char *keep)
{
	struct buf lines = buf_make(BUF_UNLIMITED);
	crontab_lines(keep, &lines);
	printf("add to your crontab:\n\n%s\n", buf_text(&lines));
	buf_free(&lines);
}

static int crontab_install(const char *keep, struct error *err)
{
	struct buf lines = buf_make(BUF_UNLIMITED);
	crontab_lines(keep, &lines);
	int rc = crontab_change(keep, buf_text(&lines), err);
	buf_free(&lines);
	if (rc == 0 && !crontab_has(keep))
		rc = errorf(err, -EIO, "crontab took the lines but does not list them");
	return rc;
}

static int crontab_remove(const char *keep, struct error *err)
{
	return crontab_change(keep, "", err);
}

static const struct install_way install_systemd = {
	.name = "systemd",
	.why = "systemctl --user works here; it starts the daemon with the system and again after a crash",
	.works = systemd_works,
	.has = systemd_has,
	.plan = systemd_plan,
	.install = systemd_install,
	.remove = systemd_remove,
};
static const struct install_way install_crontab = {
	.name = "crontab",
	.why = "crontab works here; it starts the daemon with the system, and looks every 10 minutes",
	.works = crontab_works,
	.has = crontab_has,
	.plan = crontab_plan,
	.install = crontab_install,
	.remove = crontab_remove,
};
/* In the order in which they are tried. */
static const struct install_way *const install_ways[] = {&install_systemd, &install_crontab, &install_job};

void install_add_environment(struct buf *out, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = getenv(names[i]);
		if (!value || !*value)
			continue;
		buf_addf(out, "\nexport %s=", names[i]);
		text_shell_quote(out, value);
	}
}

static int install_write_keep(const char *folder, const char *keep, struct error *err)
{
	static const char *const names[] = {"PATH", "SLURM_CONF", "SLUICE_LISTEN"};
	struct buf text = buf_make(BUF_UNLIMITED);
	char *program = fs_program();
	buf_add_text(&text,
		     "#!/bin/sh\n# Written by 'sluice daemon install': what keeps the daemon alive calls this.\n"
		     "export SLUICE_STATE=");
	text_shell_quote(&text, folder);
	install_add_environment(&text, names, COUNT_OF(names));
	buf_add_text(
		&text,
		"\n[ \"$1\" = serve ] && [ -n \"$SLUICE_LISTEN\" ] && set -- \"$@\" --listen \"$SLUICE_LISTEN\"\nexec ");
	text_shell_quote(&text, program);
	buf_add_text(&text, " \"$@\"\n");
	int rc = fs_make_dirs(folder, 0700, err);
	if (rc == 0)
		rc = fs_write(keep, text.data, text.len, 0700, false, err);
	free(program);
	buf_free(&text);
	return rc;
}

static int install_by(const struct install_way *way, const char *folder, const char *keep, bool dry_run,
		      struct error *err)
{
	printf("%s: %s.\n%s\nwrite %s, which calls sluice with this shell's PATH\n", way->name, way->why,
	       dry_run ? "It would:" : "Now:", keep);
	way->plan(keep);
	fflush(stdout);
	if (dry_run)
		return 0;
	int rc = install_write_keep(folder, keep, err);
	return rc < 0 ? rc : way->install(keep, err);
}

int install_daemon(const char *folder, bool dry_run, struct error *err)
{
	char *keep = install_keep_path(folder);
	struct buf tried = buf_make(512);
	struct error why;
	int rc = -ENOTSUP;
	if (strpbrk(folder, "\n\r"))
		rc = errorf(err, -EINVAL, "the state folder's name has a line break");
	for (size_t i = 0; rc == -ENOTSUP && i < COUNT_OF(install_ways); i++) {
		const struct install_way *way = install_ways[i];
		if (way->works(keep, &why) == 0 && install_by(way, folder, keep, dry_run, &why) == 0) {
			rc = 0;
			break;
		}
		printf("%s cannot be used: %s\n", way->name, why.text);
		buf_addf(&tried, "%s%s", tried.len ? ", " : "", way->name);
	}
	if (rc == -ENOTSUP)
		errorf(err, rc,
		       "this host offers no way to keep the daemon alive (tried: %s). Ask its administrators for cron or "
		       "lingering, make a key for ssh from the nodes to this host, or run 'sluice daemon start' when you log in: searches go on where they stood",
		       buf_text(&tried));
	buf_free(&tried);
	free(keep);
	return rc;
}

const char *install_found(const char *folder)
{
	char *keep = install_keep_path(folder);
	const char *name = NULL;
	for (size_t i = 0; !name && access(keep, F_OK) == 0 && i < COUNT_OF(install_ways); i++)
		if (install_ways[i]->has(keep))
			name = install_ways[i]->name;
	free(keep);
	return name;
}

bool install_is_lost(const char *folder, struct buf *out)
{
	char *keep = install_keep_path(folder);
	struct buf why = buf_make(BUF_UNLIMITED);
	bool lost = false;
	for (size_t i = 0; !lost && access(keep, F_OK) == 0 && i < COUNT_OF(install_ways); i++) {
		lost = install_ways[i]->is_lost && install_ways[i]->is_lost(keep, &why);
		if (lost)
			buf_addf(out, "the %s that starts the daemon again has ended: %s", install_ways[i]->name,
				 buf_text(&why));
	}
	buf_free(&why);
	free(keep);
	return lost;
}

int install_remove(const char *folder, bool *ret_found, struct error *err)
{
	char *keep = install_keep_path(folder);
	int rc = 0;
	*ret_found = false;
	for (size_t i = 0; rc == 0 && i < COUNT_OF(install_ways); i++)
		if (install_ways[i]->has(keep) || (install_ways[i]->is_lost && install_ways[i]->is_lost(keep, NULL))) {
			*ret_found = true;
			rc = install_ways[i]->remove(keep, err);
		}
	if (rc == 0 && unlink(keep) < 0 && errno != ENOENT)
		rc = errorf(err, -errno, "%s: %s", keep, strerror(errno));
	free(keep);
	return rc;
}
