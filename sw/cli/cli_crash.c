/* SPDX-License-Identifier: Apache-2.0 */
/* Reports which unit has crashed before the program dies of the signal. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void cli_say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* nothing else can be done */
}

int cli_name_running(const char *what)
{
    const char *instance, *callback;
    if (!cnnvp_running_unit(&instance, &callback))
        return 0;
    cli_say("cnnvp: ");
    cli_say(instance);
    cli_say(": its unit");
    cli_say(what);
    cli_say(callback);
    return 1;
}

static void on_crash(int number)
{
    if (cli_name_running(" crashes in "))
        cli_say("\n");
    (void)raise(number); /* with the default action */
}

void cli_name_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char own_stack[65536]; /* the unit's stack may have overflowed */
    const stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof own_stack};
    if (sigaltstack(&stack, NULL) != 0)
        return;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) {
        struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)}, before;
        (void)sigemptyset(&action.sa_mask);
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) /* not a sanitizer's */
            (void)sigaction(signals[i], &action, NULL);
    }
}
