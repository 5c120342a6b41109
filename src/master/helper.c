#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "call/fds.h"
#include "master/fork.h"
#include "master/helper.h"

/* It asks every two seconds, wanted or not. One that does not for so long is stuck. */
#define SILENCE_S 10.

/* For its last replies it takes one second at most. */
#define END_S 3.

/* Above all numbers that it gets descriptors at. */
#define SPARE_FD 16

struct helper {
	struct link link; /* of those that end */
	struct ev_loop *loop;
	void (*on_end)(void *arg);
	void *arg;
	pid_t pid;
	int life;                        /* closed, it tells the process to end; -1: it is */
	struct control_session *session; /* NULL: it is over */
	ev_io voice;                     /* its standard error */
	ev_child child;
	ev_timer limit; /* of its end */
	struct log_cap sayings;
};

/* What the child gets; the other ends are the master's. */
struct ends {
	int life, listener, master, voice;
};

static bool place(int from, int to)
{
	return from >= 0 && dup2(from, to) == to;
}

/* Each is moved out of the way of the others first. */
static bool place_all(const struct ends *ends)
{
	int life = fcntl(ends->life, F_DUPFD_CLOEXEC, SPARE_FD);
	int listener = fcntl(ends->listener, F_DUPFD_CLOEXEC, SPARE_FD);
	int master = fcntl(ends->master, F_DUPFD_CLOEXEC, SPARE_FD);
	int voice = fcntl(ends->voice, F_DUPFD_CLOEXEC, SPARE_FD);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (!place(life, HTTP_FD_LIFE) || !place(null, STDOUT_FILENO) ||
	    !place(voice, STDERR_FILENO) || !place(listener, HTTP_FD_LISTENER) ||
	    !place(master, HTTP_FD_MASTER))
		return false;
	/* All of ours would be closed anyway; not so what the master itself was started with. */
	syscall(SYS_close_range, HTTP_FD_MASTER + 1, ~0u, 0);
	return true;
}

static void execute(const struct helper_config *config)
{
	const char **args = must_alloc(config->n_hosts + 2, sizeof(*args));
	char **argv = must_alloc(config->n_hosts + 2, sizeof(*argv));

	args[0] = "runnel-http";
	for (size_t i = 0; i < config->n_hosts; i++)
		args[i + 1] = config->hosts[i];
	/* What execv() takes is not const, for old times' sake. */
	memcpy(argv, args, (config->n_hosts + 2) * sizeof(*argv));
	execv(config->program, argv);
}

static _Noreturn void become_helper(
    const struct helper_config *config, const struct ends *ends, pid_t master)
{
	struct reason why;

	if (!place_all(ends))
		_exit(1);
	if (privileges_drop(config->privileges, &why) != STATUS_OK) {
		dprintf(STDERR_FILENO, "%s\n", why.text);
		_exit(1);
	}
	/* It ends when the master does, also when it stands still; a change of user forgets this.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != master)
		_exit(0);
	execute(config);
	dprintf(STDERR_FILENO, "cannot execute %s: %s\n", config->program, strerror(errno));
	_exit(127);
}

static void on_voice(struct ev_loop *loop, ev_io *io, int revents)
{
	struct helper *helper = container_of(io, struct helper, voice);
	char text[1024], rest_text[LOG_REST_SIZE], *rest = text, *line;
	ssize_t n = read(io->fd, text, sizeof(text) - 1);

	(void)revents;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		ev_io_stop(loop, io);
		return;
	}
	text[n] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line != '\0' && log_cap_allows(&helper->sayings, clock_ms(), rest_text))
			log_warn("http: pid %d says: %s%s", (int)helper->pid, line, rest_text);
	}
}

static void close_life(struct helper *helper)
{
	if (helper->life >= 0)
		close(helper->life);
	helper->life = -1;
}

static void stop_watching(struct helper *helper)
{
	ev_io_stop(helper->loop, &helper->voice);
	ev_child_stop(helper->loop, &helper->child);
	ev_timer_stop(helper->loop, &helper->limit);
}

static void helper_destroy(struct helper *helper)
{
	list_remove(&helper->link);
	stop_watching(helper);
	close(helper->voice.fd);
	close_life(helper);
	if (helper->session != NULL)
		control_dismiss(helper->session);
	free(helper);
}

static void log_death(const struct helper *helper, int status)
{
	int pid = (int)helper->pid;

	if (WIFSIGNALED(status))
		log_error("http: pid %d was killed by signal %d (%s)", pid, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		log_error("http: pid %d exited with status %d", pid, WEXITSTATUS(status));
	else
		log_info("http: pid %d ended", pid);
}

static void on_death(struct ev_loop *loop, ev_child *child, int revents)
{
	struct helper *helper = container_of(child, struct helper, child);
	void (*on_end)(void *arg) = helper->on_end;
	void *arg = helper->arg;

	if (ev_is_active(&helper->voice))
		on_voice(loop, &helper->voice, revents);
	log_death(helper, child->rstatus);
	helper_destroy(helper);
	on_end(arg);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	const struct helper *helper = container_of(timer, struct helper, limit);

	(void)loop;
	(void)revents;
	log_warn("http: pid %d is stuck: killed", (int)helper->pid);
	kill(helper->pid, SIGKILL);
}

/* It is dying, or stuck: then it does not end by itself. */
static void on_silence(void *arg)
{
	struct helper *helper = arg;

	helper->session = NULL;
	ev_timer_start(helper->loop, &helper->limit);
}

static void watch(struct helper *helper, int voice)
{
	struct ev_loop *loop = helper->loop;

	ev_io_init(&helper->voice, on_voice, voice, EV_READ);
	ev_io_start(loop, &helper->voice);
	ev_child_init(&helper->child, on_death, helper->pid, 0);
	ev_child_start(loop, &helper->child);
	ev_timer_init(&helper->limit, on_limit, END_S, 0.);
}

/* Our ends of what the process gets, beside those that it has: [0] is read, [1] written. */
struct pipes {
	int pair[2], voice[2], life[2];
};

static void close_both(int ends[2])
{
	for (int i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
	}
}

static void close_pipes(struct pipes *pipes)
{
	int saved_errno = errno;

	close_both(pipes->pair);
	close_both(pipes->voice);
	close_both(pipes->life);
	errno = saved_errno;
}

/* False with errno. */
static bool open_pipes(struct pipes *pipes)
{
	const int flags = O_CLOEXEC | O_NONBLOCK;

	*pipes = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pipes->pair) ==
		0 &&
	    pipe2(pipes->voice, flags) == 0 && pipe2(pipes->life, flags) == 0)
		return true;
	close_pipes(pipes);
	return false;
}

/* The pid of the new process; -1 with errno. Its ends are closed here. */
static pid_t spawn(const struct helper_config *config, struct pipes *pipes)
{
	const struct ends ends = {
		.life = pipes->life[0],
		.listener = config->listener,
		.master = pipes->pair[1],
		.voice = pipes->voice[1],
	};
	pid_t master = getpid(), pid = fork_quietly();

	if (pid == 0)
		become_helper(config, &ends, master);
	if (pid < 0) {
		close_pipes(pipes);
		return -1;
	}
	close(ends.life);
	close(ends.master);
	close(ends.voice);
	return pid;
}

struct helper *helper_start(const struct helper_config *config)
{
	struct pipes pipes;
	struct helper *helper;
	pid_t pid = -1;

	if (open_pipes(&pipes))
		pid = spawn(config, &pipes);
	if (pid < 0) {
		log_error("http: cannot start: %s", strerror(errno));
		return NULL;
	}
	helper = must_alloc(1, sizeof(*helper));
	list_init(&helper->link);
	helper->loop = config->loop;
	helper->on_end = config->on_end;
	helper->arg = config->arg;
	helper->pid = pid;
	helper->life = pipes.life[1];
	watch(helper, pipes.voice[0]);
	log_info("http: started, pid %d", (int)pid);
	helper->session =
	    control_admit(config->control, pipes.pair[0], SILENCE_S, on_silence, helper);
	/* It hears that the pair is closed, and ends. */
	if (helper->session == NULL)
		log_error("http: no memory for its requests");
	return helper;
}

void helper_end(struct helper *helper, struct link *endings, void (*on_end)(void *arg))
{
	helper->on_end = on_end;
	close_life(helper);
	list_append(endings, &helper->link);
	ev_timer_start(helper->loop, &helper->limit);
}

/* Without the loop, which runs no more, and answers no more requests. */
static void await(struct helper *helper)
{
	const struct timespec tick = { .tv_nsec = 2 * 1000 * 1000 };
	uint64_t end_ms = clock_ms() + (uint64_t)(END_S * 1000);
	bool is_killed = false;
	int status;
	pid_t pid;

	if (helper->session != NULL)
		control_dismiss(helper->session);
	helper->session = NULL;
	while ((pid = waitpid(helper->pid, &status, WNOHANG)) == 0) {
		if (!is_killed && clock_ms() >= end_ms) {
			kill(helper->pid, SIGKILL);
			is_killed = true;
		}
		nanosleep(&tick, NULL);
	}
	if (pid > 0)
		log_death(helper, status);
}

void helpers_await(struct link *endings)
{
	struct link *link;

	while (!list_is_empty(endings)) {
		struct helper *helper;

		link = endings->next;
		helper = container_of(link, struct helper, link);
		await(helper);
		helper_destroy(helper);
	}
}

void helper_forget(struct helper *helper)
{
	stop_watching(helper);
	close(helper->voice.fd);
	close_life(helper);
}

void helpers_forget(struct link *endings)
{
	struct link *link;

	list_foreach(link, endings)
		helper_forget(container_of(link, struct helper, link));
}
