/* See setup.h. Every line is one `eval`, so that its status is known; lines that make sense only together (`if` … `fi`)
 * are one. Whether they do is asked of bash itself, by making them the body of a function that is never called. Only
 * the status of the whole line counts: `set -e` would also end it if a command inside a sourced file fails whose author
 * ignored that. A trap tells the runner through a file, because the exit code alone could be the program's. */
#include "node/setup.h"

#include "base/fs.h"
#include "base/num.h"
#include "base/text.h"
#include "spool/paths.h"

#include <stdio.h>

#define SETUP_ANSWER_BYTES 64
/* Not in a function: what a line declares there would be gone afterwards. */
#define SETUP_RUN                                                                                                      \
	"eval \"$sluice_text\"\nsluice_status=$?; [ $sluice_status = 0 ] || exit $sluice_status\nsluice_text=\n"

static char *setup_path(const struct spool_descriptor *d)
{
	return spool_path(d->attempt_dir, SPOOL_SETUP);
}

/* The function `module` is there in a login shell only; the daemon may have been started by another. */
#define SETUP_MODULES                                                                                                  \
	"if ! type module >/dev/null 2>&1; then for sluice_text in ${LMOD_PKG:+\"$LMOD_PKG/init/bash\"} "              \
	"${MODULESHOME:+\"$MODULESHOME/init/bash\"} /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh "                \
	"/etc/profile.d/modules.sh /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash "                       \
	"/usr/share/Modules/init/bash; do if [ -r \"$sluice_text\" ]; then . \"$sluice_text\"; "                       \
	"type module >/dev/null 2>&1 && break; fi; done; fi\nsluice_text=\n"

static bool setup_uses_modules(const struct spool_descriptor *d)
{
	for (size_t i = 0; i < d->setup->count; i++) {
		const char *line = d->setup->items[i]->string + strspn(d->setup->items[i]->string, " \t");
		if (strstr(line, "module ") || text_starts(line, "ml "))
			return true;
	}
	return false;
}

/* What ran is reported with the variables that the lines have set. An empty one at the end says that all are there. */
static void setup_add_environ(const struct spool_descriptor *d, struct buf *text)
{
	char *path = spool_path(d->attempt_dir, SPOOL_ENVIRON);
	if (d->ran_dir) {
		buf_add_text(text, "{ command env -0 && printf '\\0'; } 2>/dev/null >");
		text_shell_quote(text, path);
		buf_add_text(text, "\n");
	}
	free(path);
}

char *setup_text(const struct spool_descriptor *d)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct buf trap = buf_make(BUF_UNLIMITED);
	char *path = setup_path(d);

	buf_add_text(&trap, "sluice_status=$?; echo \"$sluice_line $sluice_status\" >");
	text_shell_quote(&trap, path);
	buf_add_text(&trap, "; echo \"sluice: $sluice_name ended with status $sluice_status\" >&2");
	buf_add_text(&text, "trap -- ");
	text_shell_quote(&text, buf_text(&trap));
	buf_add_text(&text, " EXIT\n");
	buf_add_text(&text,
		     "sluice_text=\n"
		     "sluice_is_whole() { eval \"sluice_body() {\n:\n$sluice_text}\" 2>/dev/null; }\n");
	if (setup_uses_modules(d))
		buf_add_text(&text, SETUP_MODULES);
	for (size_t i = 0; i < d->setup->count; i++) {
		buf_addf(&text, "[ -n \"$sluice_text\" ] || { sluice_line=%zu; sluice_name=", i + 1);
		if (i < d->setup_added)
			buf_add_text(&text, "'the loading of the modules'");
		else
			buf_addf(&text, "'setup line %zu'", i + 1 - d->setup_added);
		buf_add_text(&text, "; }\nsluice_text=\"$sluice_text\"");
		text_shell_quote(&text, d->setup->items[i]->string);
		buf_add_text(&text, "'\n'\n");
		if (i + 1 < d->setup->count)
			buf_add_text(&text, "if sluice_is_whole; then\n" SETUP_RUN "fi\n");
		else /* whole or not: bash then says what is wrong with it */
			buf_add_text(&text, SETUP_RUN);
	}
	setup_add_environ(d, &text);
	buf_add_text(&text,
		     "trap - EXIT\nunset -f sluice_is_whole sluice_body\n"
		     "unset sluice_text sluice_line sluice_name sluice_status\nexec \"$@\"\n");
	free(path);
	buf_free(&trap);
	return buf_take(&text);
}

struct setup_failure setup_read_failure(const struct spool_descriptor *d)
{
	struct setup_failure failure = {0};
	struct buf answer = buf_make(SETUP_ANSWER_BYTES);
	uint64_t line, status;
	if (!setup_is_needed(d))
		return failure;
	char *path = setup_path(d);
	if (fs_read(path, SETUP_ANSWER_BYTES, &answer, NULL) == 0) {
		const char *text = buf_text(&answer);
		size_t first = strcspn(text, " "), second = text[first] ? strcspn(text + first + 1, "\n") : 0;
		if (num_parse_unsigned(text, first, d->setup->count, &line) == 0 && line > 0 &&
		    num_parse_unsigned(text + first + 1, second, 255, &status) == 0)
			failure = (struct setup_failure){line, d->setup_added, (int)status,
							 d->setup->items[line - 1]->string};
	}
	free(path);
	buf_free(&answer);
	return failure;
}
