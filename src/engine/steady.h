/* Keeps the daemon's wall clock from jumping while experiments are open. Waiting times, limits and durations are
 * differences of two times, and the system's clock may be changed in between.
 *
 * The clock is held (base/clock.h) when the engine opens. The file `clock` keeps the difference to the machine's
 * uptime, so that a daemon that restarts on the same boot continues with the same clock. When no experiment is open,
 * the engine uses the system's clock again. */
#ifndef ENGINE_STEADY_H
#define ENGINE_STEADY_H

struct engine;

/* Before anything is loaded. */
void engine_hold_clock(struct engine *engine);
/* Sets the held clock to the system's clock if no experiment is open. */
void engine_correct_clock(struct engine *engine);

#endif
