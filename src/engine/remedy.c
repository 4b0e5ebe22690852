/* See remedy.h. */
#include "engine/remedy.h"

#include "base/buf.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CORRECT "correct the script, then `sluice restart ID --failed --with SCRIPT`"
#define MORE_MEMORY "ask for more: `sluice change ID --memory 32G`, then restart; or use less at a time"
#define SMALLER_BATCH "the GPU is too small: use a smaller batch or model, or a GPU with more memory"
#define NO_GPU                                                                                                         \
	"the task has no GPU: ask for one (resources: {gpus: 1}), run on a node that has one, or let the script use "  \
	"the CPU"
#define SHAPES "compare the shapes in the line with the parameters of this task; " CORRECT
#define DOWNLOAD                                                                                                       \
	"this machine cannot reach that address: download before, on a machine that can, and give the script the path"
#define CODING "name the encoding of the file, open(path, encoding=\"latin-1\"), or convert the file to UTF-8"

/* The first row whose words are in the text counts, so the narrow ones stand before the wide ones. */
static const struct {
	const char *words, *remedy;
} remedy_rows[] = {
	{"\\r'",
	 "the script has the line ends of Windows: `sed -i 's/\\r$//' SCRIPT`, then `sluice restart ID --failed --with SCRIPT`"},
	{"No module named",
	 "activate the environment that has the module and `sluice run` again (or name it: --python ~/venv); a module of "
	 "your own is taken along with --file NAME.py"},
	{"cannot import name",
	 "the module that was found has no such name: check its version, and whether a file of yours "
	 "has the name of a package"},
	{"unrecognized arguments",
	 "the script does not know this argument: rename the parameter, or see pass and style in "
	 "sluice-experiment(5)"},
	{"No such option",
	 "the script does not know this option: rename the parameter, or see pass and style in "
	 "sluice-experiment(5)"},
	{"does not take a value", "it is a switch: see pass in sluice-experiment(5)"},
	{"arguments are required", "the script needs more arguments: add them as parameters (name=value)"},
	{"Missing option", "the script needs more options: add them as parameters (name=value)"},
	{"invalid choice", "the script does not take this value: change the parameter's values"},
	{"invalid int value", "the script wants a whole number: give the parameter's range whole ends, or a step"},
	{"invalid float value", "the script wants a number: change the parameter's values"},
	{"CUDA out of memory", SMALLER_BATCH},
	{"ResourceExhaustedError", SMALLER_BATCH},
	{"CUDA_ERROR_OUT_OF_MEMORY", SMALLER_BATCH},
	{"No CUDA GPUs are available", NO_GPU},
	{"Found no NVIDIA driver", NO_GPU},
	{"no CUDA-capable device", NO_GPU},
	{"torch.cuda.is_available() is False", NO_GPU},
	{"not compiled with CUDA", "this PyTorch has no CUDA: install one that has, or let the script use the CPU"},
	{"no kernel image is available", "this build of the framework does not support the GPU: install one that does"},
	{"device-side assert",
	 "mostly a label or an index is too large for the model: run the script once on the CPU, where the error says "
	 "which; " CORRECT},
	{"shapes cannot be multiplied", SHAPES},
	{"size mismatch", SHAPES},
	{"shape mismatch", SHAPES},
	{"Incompatible shapes", SHAPES},
	{"must match the size of tensor", SHAPES},
	{"could not be broadcast", SHAPES},
	{"out of shared memory",
	 "use fewer workers of the data loader (num_workers), or ask for a larger /dev/shm on the node"},
	{"DataLoader worker",
	 "with num_workers=0 the script shows the error of the worker itself; a worker that was killed mostly "
	 "lacked memory: `sluice change ID --memory 32G`"},
	{"BrokenProcessPool",
	 "a worker process was ended, mostly for lack of memory: use fewer workers, or " MORE_MEMORY},
	{"MemoryError", MORE_MEMORY},
	{"Cannot allocate memory", MORE_MEMORY},
	{"std::bad_alloc", MORE_MEMORY},
	{"No space left on device", "free some space where the script writes, then `sluice restart ID --failed`"},
	{"Disk quota exceeded", "free some of your quota where the script writes, then `sluice restart ID --failed`"},
	{"File too large",
	 "a limit on the size of files was reached (`ulimit -f`, or the file system's): write smaller files, or "
	 "have the limit raised"},
	{"File size limit exceeded",
	 "a limit on the size of files was reached (`ulimit -f`, or the file system's): write smaller files, or "
	 "have the limit raised"},
	{"CPU time limit exceeded",
	 "a limit on CPU time was reached (`ulimit -t`): have it raised, or use another node"},
	{"Read-only file system", "let the script write below its work folder, its checkpoint folder or TMPDIR"},
	{"Too many open files",
	 "close files in the script, or raise the limit: environment: {setup: [\"ulimit -n 65536\"]}"},
	{"error while loading shared libraries",
	 "load what has the library (--setup 'module load …'), or say where it is: --env LD_LIBRARY_PATH=/path"},
	{"GLIBC", "the program was built on a newer system: build it on this machine, or statically"},
	{"Syntax error: ",
	 "the shell does not understand this line; a script in another language needs a first line such as "
	 "#!/usr/bin/env python3"},
	{": not found",
	 "check the spelling of the command; a script in another language than the shell's needs a first line such as "
	 "#!/usr/bin/env python3"},
	{"Exec format error", "the program was built for another kind of machine: build it on this one"},
	{"conda: command not found",
	 "put `source $(conda info --base)/etc/profile.d/conda.sh` in front, or name the environment: --python "
	 "/path/to/the/environment"},
	{"module: command not found",
	 "load it before the script: --setup 'module load …'; sluice then finds the command by itself"},
	{"Permission denied", "check the permissions of the file that the line names (for a program: chmod +x)"},
	{"command not found",
	 "check the spelling, install the program, or load it: --setup 'module load …'; a program of your own is taken "
	 "along with --file PATH and called as ./NAME"},
	{"'../",
	 "a task runs in a folder of its own, so ../ leads elsewhere: give the absolute path, or take the file along "
	 "(--file PATH) and name it without ../"},
	{"No such file or directory",
	 "take the file along (--file PATH, files: [PATH]), or give its absolute path: a task runs in a folder of its own"},
	{"No rule to make target", "take along what make needs: --file Makefile --file SOURCES"},
	{"No targets specified and no makefile", "take the Makefile along: --file Makefile"},
	{"Can't locate ", "install the Perl module, or take it along (--file PATH) and `use lib '.'`"},
	{"there is no package called",
	 "install the R package in the library that the task uses (R_LIBS: --keep R_LIBS)"},
	{"unbound variable",
	 "give the script the variable: --env NAME=VALUE, or --keep NAME for the one of your shell"},
	{"UnicodeDecodeError", CODING},
	{"UnicodeEncodeError", "write with the encoding that the text needs: open(path, \"w\", encoding=\"utf-8\")"},
	{"JSONDecodeError", "correct the JSON file at the line and column that the message names"},
	{"Address already in use",
	 "another process has this port: let the system choose one (port 0), or make it from SLUICE_TASK"},
	{"EOF when reading a line",
	 "the script asks for input, and a task has none: give it the answer as an argument"},
	{"no display name", "a task has no screen: --env MPLBACKEND=Agg, and save figures to files"},
	{"could not connect to display", "a task has no screen: --env MPLBACKEND=Agg, and save figures to files"},
	{"returned non-zero exit status",
	 "the command that the line names failed: what it printed stands above in the error output"},
	{"maximum recursion depth", "a function calls itself without end: " CORRECT},
	{"api_key not configured",
	 "give the task the key (--keep WANDB_API_KEY), or turn it off: --env WANDB_MODE=offline"},
	{"KeyboardInterrupt", "it was interrupted from outside; `sluice restart ID --failed`"},
	{"Connection refused",
	 "the address that the script uses does not answer from this machine; check it, or download the data before"},
	{"Name or service not known", DOWNLOAD},
	{"Temporary failure in name resolution", DOWNLOAD},
	{"Network is unreachable", DOWNLOAD},
	{"Max retries exceeded", DOWNLOAD},
	{"couldn't connect to", DOWNLOAD},
	{"CERTIFICATE_VERIFY_FAILED",
	 "Python does not trust the certificate: check the clock and the certificates of this machine (SSL_CERT_FILE), or "
	 "download before"},
	{"Segmentation fault",
	 "a compiled part crashed, mostly a package or a driver: --env PYTHONFAULTHANDLER=1 shows where in the script; "
	 "then try another version of it"},
	{"Illegal instruction",
	 "a package was built for a newer processor: install one that fits this node, or use a newer node"},
	{"Bus error",
	 "mostly /dev/shm or the disk is full, or a file was cut while it was mapped: check both, use fewer data loader "
	 "workers"},
	{"Floating point exception", "mostly a whole number was divided by zero in a compiled part: " CORRECT},
	{"Aborted", "the program or a library of it gave up: the lines above in the error output say why; " CORRECT},
	{"(Killed)",
	 "if it needs more memory: `sluice change ID --memory 32G`; ask the administrators whether they end programs on "
	 "this machine; then `sluice restart ID --failed`"},
	{"(Terminated)",
	 "sluice did not send it: the script itself, a person or an administrator's rule did; then `sluice restart ID --failed`"},
	{"printed nothing",
	 "the script gave no reason: let it print one (in bash, `set -x` shows the commands), then `sluice restart ID "
	 "--failed --with SCRIPT`"},
};

const char *remedy_of(enum cause cause, const char *text)
{
	bool of_script = cause == CAUSE_EXIT || cause == CAUSE_SIGNAL;
	for (size_t i = 0; of_script && text && i < COUNT_OF(remedy_rows); i++)
		if (strstr(text, remedy_rows[i].words))
			return remedy_rows[i].remedy;
	return cause_remedy(cause);
}

/* The text with `word` replaced wherever it stands by itself. Takes the text. */
static char *remedy_put(char *text, const char *word, const char *by)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	size_t len = strlen(word);
	const char *p = text;
	while (*p) {
		bool alone = p == text || !isalnum((unsigned char)p[-1]) || !isalnum((unsigned char)*word);
		if (alone && strncmp(p, word, len) == 0 && !isalnum((unsigned char)p[len])) {
			buf_add_text(&out, by);
			p += len;
		} else {
			buf_add_char(&out, *p++);
		}
	}
	free(text);
	return buf_take(&out);
}

char *remedy_say(const char *remedy, int64_t experiment, const char *script)
{
	char id[32];
	const char *slash = script ? strrchr(script, '/') : NULL;
	if (!remedy)
		return NULL;
	snprintf(id, sizeof(id), "e%" PRId64, experiment);
	char *text = remedy_put(mem_strdup(remedy), "ID", id);
	if (!script)
		text = remedy_put(text, " --with SCRIPT", "");
	return remedy_put(text, "SCRIPT", !script ? "the script" : slash ? slash + 1 : script);
}

#define MORE "--memory 32G"

char *remedy_fit_memory(char *text, int64_t had_bytes, int64_t most_bytes)
{
	const int64_t gib = INT64_C(1) << 30, mib = INT64_C(1) << 20;
	if (!text || !strstr(text, MORE))
		return text;
	int64_t want = had_bytes >= 16 * gib && had_bytes < INT64_MAX / 2 ? 2 * had_bytes : 32 * gib;
	/* In whole numbers of what people write. */
	int64_t offered = most_bytes - most_bytes % (most_bytes >= 4 * gib ? gib : mib);
	if (offered > 0 && had_bytes >= offered) {
		free(text);
		return mem_strdup(
			"no more memory than it had can be asked for here: use less at a time, such as a smaller batch "
			"or fewer workers");
	}
	want = offered > 0 && want > offered ? offered : want;
	bool whole = want % gib == 0;
	char *by = mem_printf("--memory %" PRId64 "%c", want / (whole ? gib : mib), whole ? 'G' : 'M');
	const char *at = strstr(text, MORE);
	char *ret = mem_printf("%.*s%s%s", (int)(at - text), text, by, at + strlen(MORE));
	free(by);
	free(text);
	return ret;
}
