/* The daemon's wall clock does not jump while something goes on: what waits, what is limited and how long something took
 * is the difference of two times, and the system's clock may be set in between.
 *
 * The clock is held (base/clock.h) when the engine opens. By how much it differs from the machine's uptime is kept in the
 * file `clock`, so that a daemon that is started again on the same boot goes on with it. When no experiment is open, the
 * system's clock is taken over. */
#ifndef ENGINE_STEADY_H
#define ENGINE_STEADY_H

struct engine;

/* Before anything is loaded. */
void engine_hold_clock(struct engine *engine);
/* Takes over the system's clock if no experiment is open. */
void engine_correct_clock(struct engine *engine);

#endif
