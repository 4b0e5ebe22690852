/* See remedy.h. */
#include "engine/remedy.h"

#include <string.h>

/* The first row whose words are in the text counts, so the narrow ones stand before the wide ones. */
static const struct {
	const char *words, *remedy;
} remedy_rows[] = {
	{"No module named",
	 "install the module in the environment of the task (environment: {setup: [\"source "
	 "~/venv/bin/activate\"]}), or take the file along: --file NAME.py"},
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
	{"CUDA out of memory", "the GPU is too small: use a smaller batch or model, or a GPU with more memory"},
	{"No CUDA GPUs are available", "ask for a GPU: resources: {gpus: 1}"},
	{"Found no NVIDIA driver", "ask for a GPU: resources: {gpus: 1}, or run on a node that has one"},
	{"no kernel image is available", "this build of the framework does not support the GPU: install one that does"},
	{"MemoryError", "ask for more: resources: {memory: …}, or use less at a time"},
	{"Cannot allocate memory", "ask for more: resources: {memory: …}, or use less at a time"},
	{"No space left on device", "free some space where the script writes, then restart the task"},
	{"Disk quota exceeded", "free some of your quota where the script writes, then restart the task"},
	{"Read-only file system", "let the script write below its work folder, its checkpoint folder or TMPDIR"},
	{"Too many open files",
	 "close files in the script, or raise the limit: environment: {setup: [\"ulimit -n 65536\"]}"},
	{"Permission denied", "check the permissions of the file that the line names"},
	{"command not found", "install the program, or load it: environment: {setup: [\"module load …\"]}"},
	{"No such file or directory", "take the file along (--file PATH, files: [PATH]), or give its absolute path"},
	{"FileNotFoundError", "take the file along (--file PATH, files: [PATH]), or give its absolute path"},
	{"SyntaxError", "correct the script, then `sluice restart ID --failed --with SCRIPT`"},
	{"IndentationError", "correct the script, then `sluice restart ID --failed --with SCRIPT`"},
	{"NameError", "correct the script, then `sluice restart ID --failed --with SCRIPT`"},
	{"KeyboardInterrupt", "it was interrupted from outside; restart the task"},
	{"Connection refused",
	 "the address that the script uses does not answer from this machine; check it, or download the data before"},
	{"Name or service not known", "this machine cannot reach that address: download the data before"},
	{"printed nothing", "the script gave no reason: let it print one, and see the task's timeline"},
};

const char *remedy_of(enum cause cause, const char *text)
{
	bool of_script = cause == CAUSE_EXIT || cause == CAUSE_SIGNAL;
	for (size_t i = 0; of_script && text && i < COUNT_OF(remedy_rows); i++)
		if (strstr(text, remedy_rows[i].words))
			return remedy_rows[i].remedy;
	return cause_remedy(cause);
}
