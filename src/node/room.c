/* See room.h. */
#include "node/room.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "spool/status.h"

#include <signal.h>
#include <stddef.h>

/* A second, or until a signal that asks us to end. */
static int room_sleep(void)
{
	const struct timespec pause = {.tv_sec = EXEC_RETRY_MS / 1000, .tv_nsec = EXEC_RETRY_MS % 1000 * 1000000};
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	int signal = sigtimedwait(&ends, NULL, &pause);
	return signal > 0 ? signal : 0;
}

bool room_wait(struct room *room, int rc, const struct error *err)
{
	int64_t now = clock_mono_ms();
	int status = spool_status_of(rc);
	int64_t patience = spool_status_patience_ms(status);
	if (!patience)
		return false;
	if (room->status != status) {
		room->status = status;
		room->since_ms = now;
		log_warning("%s; waiting for it to pass", err->text);
	}
	if (now - room->since_ms >= patience)
		return false;
	room->signal = room_sleep();
	return !room->signal;
}

int room_status(const struct room *room, int rc)
{
	return room->signal ? 128 + room->signal : spool_status_of(rc);
}
