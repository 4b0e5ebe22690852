/* Shared by the journal's reader and writer. Only for the files of this folder. */
#ifndef JOURNAL_KINDS_H
#define JOURNAL_KINDS_H

#include "journal/journal.h"

extern const char *const journal_kind_names[]; /* by enum journal_kind, up to JOURNAL_UNKNOWN */

/* The sum before the JSON text. */
#define JOURNAL_PREFIX_FORMAT "%08lx "
#define JOURNAL_PREFIX_BYTES 9

#endif
