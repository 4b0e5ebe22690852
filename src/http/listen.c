/* Addresses and listening sockets: see listen.h. */
#include "http/listen.h"

#include "base/num.h"
#include "base/pace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_BACKLOG 128

static int listen_start(uv_stream_t *stream, const char *where, uv_connection_cb accept, struct error *err)
{
	int rc = uv_listen(stream, LISTEN_BACKLOG, accept);
	if (rc == UV_EADDRINUSE)
		return errorf(err, -EADDRINUSE, "%s is in use by another program", where);
	return rc < 0 ? errorf(err, rc, "%s: %s", where, uv_strerror(rc)) : 0;
}

/* A socket's address holds 107 bytes; a longer path is reached through a descriptor of its folder. */
static int listen_socket_address(const char *path, char *out, size_t size, int *ret_dir, struct error *err)
{
	if (strlen(path) < size) {
		memcpy(out, path, strlen(path) + 1);
		return 0;
	}
	char *folder = mem_copy(path, (size_t)(strrchr(path, '/') - path));
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (dir < 0)
		return errorf(err, -errno, "%s: %s", path, strerror(errno));
	snprintf(out, size, "/proc/self/fd/%d%s", dir, strrchr(path, '/'));
	*ret_dir = dir;
	return 0;
}

static bool listen_is_refused(const char *address)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	memcpy(to.sun_path, address, strlen(address) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool refused = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno == ECONNREFUSED;
	if (fd >= 0)
		close(fd);
	return refused;
}

/* Is the socket a leftover that no process listens on? A daemon that was just killed is asked again for a while: the lease is free
 * before the kernel has closed its socket, and a child between fork and exec has the socket too. */
static bool listen_is_leftover(const char *address)
{
	bool refused = listen_is_refused(address);
	for (int waited = 0; !refused && waited < LISTEN_LEFTOVER_MS; waited += LISTEN_LEFTOVER_LOOK_MS) {
		usleep(LISTEN_LEFTOVER_LOOK_MS * 1000);
		refused = listen_is_refused(address);
	}
	return refused;
}

int listen_unix(uv_pipe_t *pipe, const char *path, uv_connection_cb accept, int *ret_dir, struct error *err)
{
	char bound[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int rc = listen_socket_address(path, bound, sizeof(bound), ret_dir, err);
	if (rc < 0)
		return rc;
	/* The caller holds the lease, so an existing socket should be a leftover. If a user has removed the lease of a
	 * daemon that runs, that daemon keeps its socket. Files that are no sockets stay, too. */
	struct stat st;
	if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && listen_is_leftover(bound))
		unlink(path);
	mode_t mask = umask(0177);
	rc = uv_pipe_bind(pipe, bound);
	umask(mask);
	if (rc < 0)
		return errorf(err, rc, "%s: %s", path, uv_strerror(rc));
	return listen_start((uv_stream_t *)pipe, path, accept, err);
}

int listen_parse_address(const char *text, char *host, size_t host_size, uint16_t *ret_port, struct error *err)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;
	if (!colon || num_parse_unsigned(colon + 1, strlen(colon + 1), 65535, &port) < 0)
		return errorf(err, -EINVAL, "%s is not HOST:PORT, such as 127.0.0.1:54322", text);
	size_t len = (size_t)(colon - text);
	bool six = len > 2 && text[0] == '[' && text[len - 1] == ']';
	const char *from = six ? text + 1 : text;
	len = six ? len - 2 : len;
	if (len >= host_size)
		return errorf(err, -EINVAL, "%s is not HOST:PORT, such as 127.0.0.1:54322", text);
	memcpy(host, from, len);
	host[len] = 0;
	if (!strcmp(host, "localhost"))
		snprintf(host, host_size, "127.0.0.1");
	struct in_addr four;
	if (strcmp(host, "::1") != 0 && (inet_pton(AF_INET, host, &four) != 1 || ntohl(four.s_addr) >> 24 != 127))
		return errorf(err, -EPERM,
			      "%s is not a loopback address. sluice listens on this machine only; reach it "
			      "from elsewhere through ssh -L",
			      text);
	*ret_port = (uint16_t)port;
	return 0;
}

int listen_tcp(uv_tcp_t *tcp, const char *host, uint16_t port, uv_connection_cb accept, uint16_t *ret_port,
	       struct error *err)
{
	struct sockaddr_storage address = {0};
	char where[80];
	bool six = strchr(host, ':');
	snprintf(where, sizeof(where), six ? "[%s]:%u" : "%s:%u", host, port);
	int rc = six ? uv_ip6_addr(host, port, (struct sockaddr_in6 *)&address)
		     : uv_ip4_addr(host, port, (struct sockaddr_in *)&address);
	if (rc == 0)
		rc = uv_tcp_bind(tcp, (struct sockaddr *)&address, 0);
	if (rc < 0)
		return errorf(err, rc, "%s: %s", where, uv_strerror(rc));
	rc = listen_start((uv_stream_t *)tcp, where, accept, err);
	if (rc < 0)
		return rc;
	int len = sizeof(address);
	uv_tcp_getsockname(tcp, (struct sockaddr *)&address, &len);
	*ret_port = ntohs(six ? ((struct sockaddr_in6 *)&address)->sin6_port
			      : ((struct sockaddr_in *)&address)->sin_port);
	return 0;
}
