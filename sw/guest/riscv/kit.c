/* SPDX-License-Identifier: Apache-2.0 */
/* See kit.h. The console is the UART. clock() is simulated time. The end of main, exit() and abort() end the run with
 * their status. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform.h"
#include "plic.h"

#define MACHINE_EXTERNAL_INTERRUPT 0x8000000bu
#define MIE_EXTERNAL (1u << 11)
#define MSTATUS_MIE (1u << 3)
#define LINES 32u
enum { EXIT_TRAP = 3, EXIT_ABORT = 134 };

volatile uint32_t tohost[2] __attribute__((aligned(64)));
volatile uint32_t fromhost[2] __attribute__((aligned(64)));

static const struct cnnvp_machine machine = {UART_BASE};
static struct cnnvp_element element;
static struct {
    void (*call)(void *context);
    void *context;
} handlers[LINES];

/* ---- console and end ---- */

static int put(char character, FILE *file)
{
    (void)file;
    cnnvp_console(&machine, character);
    return (unsigned char)character;
}

static FILE console = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &console;
FILE *const stderr = &console;

void _exit(int status)
{
    tohost[0] = (uint32_t)status << 1 | 1u;
    for (;;)
        __asm__ volatile("wfi");
}

/* Replaces the C library's abort, which raises a signal. */
void abort(void)
{
    (void)fputs("abort\n", stderr);
    _exit(EXIT_ABORT);
}

/* ---- traps ---- */

static void interrupt(void)
{
    const uint32_t line = cnnvp_plic_claim(&machine, PLIC_BASE);
    if (line == 0)
        return;
    if (line == INSTRUCTION_IRQ)
        cnnvp_element_interrupt(&element);
    else if (handlers[line].call != NULL)
        handlers[line].call(handlers[line].context);
    cnnvp_plic_complete(&machine, PLIC_BASE, line);
}

static void __attribute__((interrupt("machine"), aligned(4))) trap(void)
{
    uint32_t cause, at, value;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause == MACHINE_EXTERNAL_INTERRUPT) {
        interrupt();
        return;
    }
    __asm__ volatile("csrw mtvec, zero"); /* another trap, in this handler, ends the run */
    __asm__ volatile("csrr %0, mepc" : "=r"(at));
    __asm__ volatile("csrr %0, mtval" : "=r"(value));
    printf("unexpected trap, mcause 0x%08lx, mepc 0x%08lx, mtval 0x%08lx\n", (unsigned long)cause, (unsigned long)at,
           (unsigned long)value);
    _exit(EXIT_TRAP);
}

/* Runs before main. */
static void __attribute__((constructor)) start(void)
{
    __asm__ volatile("csrw mtvec, %0" : : "r"((uintptr_t)trap));
    cnnvp_element_init(&element, &machine, INSTRUCTION_BASE);
    cnnvp_plic_enable(&machine, PLIC_BASE, INSTRUCTION_IRQ);
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_EXTERNAL));
    __asm__ volatile("csrs mstatus, %0" : : "r"(MSTATUS_MIE) : "memory");
}

/* ---- for the program ---- */

struct cnnvp_element *cnnvp_kit_element(void)
{
    return &element;
}

int cnnvp_kit_finish(void)
{
    cnnvp_element_irq(&element, 0);
    if (cnnvp_element_finish(&element) == 0)
        return 0;
    cnnvp_element_explain(&element);
    return -1;
}

void cnnvp_kit_handle(uint32_t line, void (*handler)(void *context), void *context)
{
    if (line == 0 || line >= LINES)
        abort();
    handlers[line].context = context;
    handlers[line].call = handler;
    cnnvp_plic_enable(&machine, PLIC_BASE, line);
}

/* Semihosting calls that the core's model adds: models/soc/cpu/cpu_semihost.c. */
enum { SYS_REPORT = 0x100, SYS_NAME_LAYER = 0x101 };

static void __attribute__((noinline)) semihost(uint32_t operation, const uint32_t *block)
{
    register uint32_t a0 __asm__("a0") = operation;
    register const uint32_t *a1 __asm__("a1") = block;
    __asm__ volatile(
        ".option push\n .option norvc\n .balign 16\n slli x0, x0, 0x1f\n ebreak\n srai x0, x0, 7\n .option pop"
        : "+r"(a0)
        : "r"(a1)
        : "memory");
}

void cnnvp_kit_report(const char *name, int64_t value)
{
    const uint32_t block[] = {
        cnnvp_kit_address(name), (uint32_t)strlen(name), (uint32_t)value, (uint32_t)((uint64_t)value >> 32)};
    semihost(SYS_REPORT, block);
}

void cnnvp_kit_layer(const struct cnnvp_kit_layer *layer)
{
    const char *phase = layer->phase != NULL ? layer->phase : "", *op = layer->op != NULL ? layer->op : "";
    const uint32_t block[] = {
        layer->tag,
        cnnvp_kit_address(layer->name),
        (uint32_t)strlen(layer->name),
        cnnvp_kit_address(op),
        (uint32_t)strlen(op),
        cnnvp_kit_address(phase),
        (uint32_t)strlen(phase),
        (uint32_t)layer->macs,
        (uint32_t)(layer->macs >> 32)};
    semihost(SYS_NAME_LAYER, block);
    cnnvp_element_layer(&element, layer->tag);
}

/* clock() of <time.h> is simulated time. */
clock_t clock(void)
{
    uint32_t high, low, again;
    do {
        __asm__ volatile("csrr %0, timeh" : "=r"(high));
        __asm__ volatile("csrr %0, time" : "=r"(low));
        __asm__ volatile("csrr %0, timeh" : "=r"(again));
    } while (high != again);
    return (clock_t)(((uint64_t)high << 32 | low) * (CLOCKS_PER_SEC / 1000000u) / CPU_TIMEBASE_MHZ);
}

uint64_t cnnvp_kit_cycles(void)
{
    uint32_t high, low, again;
    do {
        __asm__ volatile("csrr %0, mcycleh" : "=r"(high));
        __asm__ volatile("csrr %0, mcycle" : "=r"(low));
        __asm__ volatile("csrr %0, mcycleh" : "=r"(again));
    } while (high != again);
    return (uint64_t)high << 32 | low;
}
