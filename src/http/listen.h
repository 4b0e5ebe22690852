/* The addresses of the daemon: loopback addresses and the unix socket, nothing else. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include "base/error.h"

#include <uv.h>

/* Splits HOST:PORT ([::1]:PORT). -EINVAL when it is neither, -EPERM when it is not loopback. */
int listen_parse_address(const char *text, char *host, size_t host_size, uint16_t *ret_port,
			 struct error *err) MUST_USE;
/* Binds the pipe, which the caller has initialised and closes, to a socket at path (0600), replacing one that a daemon
 * left behind, and listens. If the path is too long for a socket, it is reached through a descriptor of its folder.
 * Then *ret_dir is that descriptor, and the caller closes it after the pipe; else *ret_dir is unchanged. */
int listen_unix(uv_pipe_t *pipe, const char *path, uv_connection_cb accept, int *ret_dir, struct error *err) MUST_USE;
/* The same on a loopback address. Port 0 takes a free one; ret_port gets the real one. -EADDRINUSE when another program
 * uses it. */
int listen_tcp(uv_tcp_t *tcp, const char *host, uint16_t port, uv_connection_cb accept, uint16_t *ret_port,
	       struct error *err) MUST_USE;

#endif
