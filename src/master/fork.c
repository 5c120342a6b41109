#include "config.h"

#include <signal.h>
#include <unistd.h>

#include "master/fork.h"

pid_t fork_quietly(void)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	for (int number = 1; pid == 0 && number <= SIGRTMAX; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}
