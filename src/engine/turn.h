/* Asks for the next turn of the engine (state.h says what a turn is). */
#ifndef ENGINE_TURN_H
#define ENGINE_TURN_H

struct engine;

/* Asks for a turn, to run after all other callbacks that are due. */
void engine_soon(struct engine *engine);

#endif
