/*
 * runnel-http: serves what a runneld has to say over HTTP. Only a master starts it, with two
 * sockets: one that listens, and one to ask the master (runneld(8)). It ends when the master
 * says so by the end of a pipe, or is gone, and not by signals, which a terminal or a service
 * manager sends to all processes of the daemon: it is there until the daemon has drained.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "call/fds.h"

#include "http/server.h"

static void ignore_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ,
		SIGUSR1, SIGUSR2 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_IGN);
}

/* Somebody may start it by hand. */
static bool is_given(int fd, int option)
{
	socklen_t len = sizeof(int);
	int value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 && value != 0;
}

int main(int argc, char **argv)
{
	const struct server_config config = {
		.listener = HTTP_FD_LISTENER,
		.master = HTTP_FD_MASTER,
		.life = HTTP_FD_LIFE,
		.hosts = (const char *const *)argv + 1,
		.n_hosts = argc > 0 ? (size_t)argc - 1 : 0,
	};
	struct server *server;
	struct reason why;

	if (!is_given(HTTP_FD_LISTENER, SO_ACCEPTCONN) || !is_given(HTTP_FD_MASTER, SO_TYPE)) {
		fprintf(stderr, "runnel-http: it is started by runneld, see metrics-address "
				"in runnel.conf(5)\n");
		return 2;
	}
	ignore_signals();
	if (server_new(&config, &server, &why) != STATUS_OK) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	while (server_turn(server))
		;
	server_destroy(&server);
	return 0;
}
