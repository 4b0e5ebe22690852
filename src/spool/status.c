/* See status.h. */
#include "spool/status.h"

#include "base/mem.h"
#include "base/pace.h"

#include <errno.h>

static const struct {
	enum spool_status status;
	int errors[5]; /* 0 after the last */
	int64_t patience_ms;
	const char *text;
} status_rows[] = {
	{SPOOL_STATUS_FULL,
	 {ENOSPC, EFBIG},
	 EXEC_ROOM_MS,
	 "the disk with the state folder is full (waited " EXEC_ROOM_TEXT ")"},
	{SPOOL_STATUS_QUOTA,
	 {EDQUOT},
	 EXEC_ROOM_MS,
	 "the quota on the state folder's file system is used up (waited " EXEC_ROOM_TEXT ")"},
	{SPOOL_STATUS_STALE,
	 {ESTALE, ENOTCONN, ETIMEDOUT, EHOSTDOWN, ECONNREFUSED},
	 EXEC_AWAY_MS,
	 "the file system of the state folder is not available (waited " EXEC_AWAY_TEXT ")"},
	{SPOOL_STATUS_INPUT,
	 {EIO, EREMOTEIO, ENXIO, ENODEV},
	 EXEC_AWAY_MS,
	 "the file system of the state folder reports errors (waited " EXEC_AWAY_TEXT ")"},
	{SPOOL_STATUS_UNSEEN,
	 {ENOENT, ENOTDIR},
	 EXEC_UNSEEN_MS,
	 "the state folder is not visible on the node (waited " EXEC_UNSEEN_TEXT ")"},
	{SPOOL_STATUS_DENIED,
	 {EACCES, EPERM, EROFS, ENOKEY},
	 EXEC_UNSEEN_MS,
	 "the node may not write to the state folder (waited " EXEC_UNSEEN_TEXT ")"},
	{SPOOL_STATUS_CROWDED,
	 {EMFILE, ENFILE, ENOMEM, EAGAIN},
	 EXEC_AWAY_MS,
	 "the node has no files, processes or memory left (waited " EXEC_AWAY_TEXT ")"},
};

int spool_status_of(int rc)
{
	for (size_t i = 0; i < COUNT_OF(status_rows); i++)
		for (size_t k = 0; k < COUNT_OF(status_rows[i].errors) && status_rows[i].errors[k]; k++)
			if (status_rows[i].errors[k] == -rc)
				return status_rows[i].status;
	return SPOOL_STATUS_FAILED;
}

int64_t spool_status_patience_ms(int status)
{
	for (size_t i = 0; i < COUNT_OF(status_rows); i++)
		if ((int)status_rows[i].status == status)
			return status_rows[i].patience_ms;
	return 0;
}

const char *spool_status_text(int status)
{
	for (size_t i = 0; i < COUNT_OF(status_rows); i++)
		if ((int)status_rows[i].status == status)
			return status_rows[i].text;
	return NULL;
}
