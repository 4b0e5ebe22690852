/* Asks for the next turn of the engine (state.h says what a turn is). */
#ifndef ENGINE_TURN_H
#define ENGINE_TURN_H

struct engine;

/* Asks for a turn, to run after all other callbacks that are due. */
void engine_soon(struct engine *engine);

/* As at the end of a turn: tells the listeners of attempts whose end is stored, and forgets them. A worker's tell ends
 * its attempt between two turns. Experiments that have ended are forgotten, too; not inside a transaction. */
void engine_forget_settled(struct engine *engine);

#endif
