/* See where.h. */
#include "cli/where.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/pace.h"
#include "base/proc.h"
#include "cli/install.h"
#include "cli/term.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Slurm's programs and a configuration are here and this is no job of it: people reach such hosts to submit, and others
 * work on them too. */
static bool where_is_login_node(void)
{
	static const char *const places[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf",
					     "/etc/slurm-llnl/slurm.conf"};
	const char *conf = getenv("SLURM_CONF");
	bool configured = conf && access(conf, R_OK) == 0;
	for (size_t i = 0; i < COUNT_OF(places); i++)
		configured = configured || access(places[i], R_OK) == 0;
	return configured && proc_in_path("sbatch") && !getenv("SLURM_JOB_ID");
}

bool where_is_meant(const struct client *client, const struct node *experiment)
{
	const char *backend = node_get_string(node_get(experiment, "resources"), "backend");
	if (!backend || strcmp(backend, "local") != 0 || !where_is_login_node() || !isatty(0) || !isatty(2))
		return true;
	char *path = mem_printf("%s/local-is-meant", client->folder);
	bool meant = access(path, F_OK) == 0;
	if (!meant) {
		char answer[16] = "";
		fprintf(stderr,
			"This host has a Slurm cluster, so it may be a login node that others use too.\n"
			"Run the tasks on it all the same (you are asked once)? [y/N] ");
		fflush(stderr);
		meant = fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
		if (meant && fs_write(path, "", 0, 0600, false, NULL) < 0)
			errno = 0; /* asked again next time */
	}
	free(path);
	return meant;
}

static bool where_is_asking(struct client *client)
{
	struct node *cluster = NULL;
	bool asking = false;
	if (client_get(client, "/cluster", NULL, &cluster, NULL) == 0) {
		const struct node *backends = node_get(cluster, "backends");
		for (size_t i = 0; backends && backends->type == NODE_LIST && i < backends->count; i++)
			asking |= node_get_bool(backends->items[i], "asking", false);
	}
	node_free(cluster);
	return asking;
}

void where_await(struct client *client)
{
	int64_t until_ms = clock_mono_ms() + WHERE_KNOWN_MS;
	while (where_is_asking(client) && clock_mono_ms() < until_ms)
		usleep(WHERE_LOOK_MS * 1000);
}

void where_add(const struct node *experiment, struct buf *out)
{
	static const char *const keys[] = {"partition", "account", "qos"};
	const char *backend = node_get_string(experiment, "backend");
	const struct node *resources = node_get(experiment, "resources");
	if (!backend)
		return;
	if (strcmp(backend, "local") == 0)
		buf_add_text(out, " on this machine");
	else
		buf_addf(out, " on %s", backend);
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		const char *value = node_get_string(resources, keys[i]);
		if (value && *value) {
			buf_addf(out, ", %s ", keys[i]);
			term_add_safe(out, value);
		}
	}
}

void where_hint_install(const struct client *client, const struct node *experiment)
{
	static const char *const blind[] = {"grid", "random", "sobol"}; /* all of their tasks can wait in the queue */
	const char *backend = node_get_string(experiment, "backend"),
		   *strategy = node_get_string(experiment, "strategy");
	if (!backend || strcmp(backend, "slurm") != 0 || !strategy)
		return;
	for (size_t i = 0; i < COUNT_OF(blind); i++)
		if (strcmp(strategy, blind[i]) == 0)
			return;
	char *path = mem_printf("%s/install-was-named", client->folder);
	if (access(path, F_OK) < 0 && !install_found(client->folder)) {
		fputs("sluice: this search stands still when the daemon is not running, for example after you log out;\n"
		      "sluice: 'sluice daemon install' keeps it alive (this is said once)\n",
		      stderr);
		if (fs_write(path, "", 0, 0600, false, NULL) < 0)
			errno = 0; /* said again next time */
	}
	free(path);
}

void where_warn(struct client *client, const struct node *experiment)
{
	const char *backend = node_get_string(experiment, "backend");
	const char *wanted = node_get_string(node_get(node_get(experiment, "spec"), "resources"), "backend");
	struct node *cluster = NULL;
	/* Who says "local" means it. */
	if (!backend || strcmp(backend, "local") != 0 || (wanted && strcmp(wanted, "auto") != 0) ||
	    !where_is_login_node())
		return;
	if (client_get(client, "/cluster", NULL, &cluster, NULL) < 0)
		return;
	const struct node *list = node_get(cluster, "backends");
	for (size_t i = 0; list && i < list->count; i++) {
		const char *name = node_get_string(list->items[i], "name");
		if (!name || strcmp(name, "slurm") != 0 || node_get_bool(list->items[i], "available", true))
			continue;
		const char *text = node_get_string(list->items[i], "text");
		fprintf(stderr,
			"sluice: warning: this shell finds sbatch, but the daemon does not find Slurm, so the tasks run on this machine "
			"(%s)\n",
			text ? text : "no reason is known");
	}
	node_free(cluster);
}
