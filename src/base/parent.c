#include "config.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/parent.h"

void parent_follow(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		raise(SIGKILL);
}

void parent_outlive(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
}
