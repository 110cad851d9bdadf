/* SPDX-License-Identifier: Apache-2.0 */
/* A model with a writable global, which no_globals.sh must find. */
int cnnvp_abi_counter(void);

int cnnvp_abi_counter(void)
{
    static int calls;

    return ++calls;
}
