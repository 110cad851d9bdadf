/* SPDX-License-Identifier: Apache-2.0 */
/* An ordinary C program on picolibc with semihosting: output, command line, exit status. */
#include <stdio.h>

int main(int argc, char **argv)
{
    printf("hello %d %s\n", argc, argc > 1 ? argv[1] : "nobody");
    return 5;
}
