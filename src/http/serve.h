/* `sluice serve`: the daemon. Opens the engine, listens on the unix socket and on loopback TCP, and answers requests
 * until it is asked to stop. */
#ifndef HTTP_SERVE_H
#define HTTP_SERVE_H

/* The exit status. */
int serve_main(int argc, char **argv);

#endif
