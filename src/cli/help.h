/* Help, manual pages and completions: all are made from the tables of the verbs. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "base/buf.h"
#include "cli/verb.h"

#include <stdio.h>

void help_print_all(FILE *to);
void help_print_verb(const struct verb *verb);
/* The verb's manual page, in scdoc's language. */
void help_write_man(const struct verb *verb, struct buf *out);
/* The completion script for "bash", "zsh" or "fish". 0, or -EINVAL for another shell. */
int help_write_completion(const char *shell, struct buf *out) MUST_USE;

#endif
