/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of child processes, as they run trials of plans or points of a sweep. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "explore.h"

void cnnvp_process_begin(pid_t parent)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const int null = open("/dev/null", O_RDWR);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i)
        (void)signal(signals[i], SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(1);
}

int cnnvp_process_ended(pid_t process, int flags, int *status)
{
    pid_t ended;
    do
        ended = waitpid(process, status, flags);
    while (ended < 0 && errno == EINTR);
    return ended != 0;
}
