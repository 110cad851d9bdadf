/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serial port with 16550 registers (National Semiconductor PC16550D data sheet, June 1995), one byte apart, for byte
 * accesses.
 * Modelled: sending to the console, receiving from it into a FIFO of 16 bytes, interrupts for received bytes, overrun
 * and the empty transmitter, loop-back, divisor and scratch registers.
 * Not modelled: time on the line (a byte is sent at once), parity and framing, trigger levels (one byte raises the
 * interrupt), modem lines except in loop-back. Console input is polled when the guest reads LSR or RBR, and every
 * poll_us while IER.received is set.
 */
#include "units.h"
#include "unit/parts.h"

#include <string.h>

enum uart_offset {
#define CNNVP_BYTE_REGISTER(name, offset, help) AT_##name = offset,
#include "uart.def"
    OFFSETS = 8
};

enum uart_bit {
#define CNNVP_BYTE_FIELD(reg, name, lsb, width, help) reg##_##name = 1 << lsb,
#include "uart.def"
};

#define UNIT_DEF "soc/uart/uart.def"
#include "unit/unit_enums.inc"

enum { EVENT_POLL, EVENTS };
enum { CAUSE_NONE = 1, CAUSE_ERROR = 6, CAUSE_RECEIVED = 4, CAUSE_EMPTY = 2, IIR_FIFO = 0xc0 };
enum { IER_MASK = 0x0f, MCR_MASK = 0x1f, FIFO_SIZE = 16 };
enum { MSR_CTS = 0x10, MSR_DSR = 0x20, MSR_CD = 0x80 };

struct uart {
    const struct cnnvp_host_ops *ops;
    struct cnnvp_host *host;
    cnnvp_time poll_interval;
    uint8_t ier, lcr, mcr, scratch, divisor_low, divisor_high;
    uint8_t fifo_enabled;
    uint8_t overrun;
    uint8_t empty_pending; /* the interrupt of the empty transmitter has not been acknowledged */
    uint8_t fifo[FIFO_SIZE];
    uint32_t first, count;
};

/* -- receiver -- */

static void receive(struct uart *uart, uint8_t byte)
{
    if (uart->count == FIFO_SIZE) {
        uart->overrun = 1;
        return;
    }
    uart->fifo[(uart->first + uart->count++) % FIFO_SIZE] = byte;
}

/* Reads console input into the FIFO if that is empty; further input stays in the console. */
static void look_for_input(struct uart *uart)
{
    uint8_t bytes[FIFO_SIZE];
    size_t got;

    if (uart->count > 0 || uart->mcr & MCR_loop)
        return;
    got = uart->ops->console_read(uart->host, bytes, sizeof bytes);
    for (size_t i = 0; i < got && i < sizeof bytes; ++i)
        receive(uart, bytes[i]);
}

static uint8_t take(struct uart *uart)
{
    uint8_t byte;

    if (uart->count == 0)
        return 0;
    byte = uart->fifo[uart->first];
    uart->first = (uart->first + 1) % FIFO_SIZE;
    --uart->count;
    uart->ops->count(uart->host, STAT_bytes_received, 0, 1);
    return byte;
}

static void send(struct uart *uart, uint8_t byte)
{
    if (uart->mcr & MCR_loop) {
        receive(uart, byte);
    } else {
        uart->ops->console_write(uart->host, &byte, 1);
        uart->ops->count(uart->host, STAT_bytes_sent, 0, 1);
    }
    uart->empty_pending = 1;
}

/* -- interrupt -- */

static uint8_t cause(const struct uart *uart)
{
    if (uart->ier & IER_line && uart->overrun)
        return CAUSE_ERROR;
    if (uart->ier & IER_received && uart->count > 0)
        return CAUSE_RECEIVED;
    if (uart->ier & IER_empty && uart->empty_pending)
        return CAUSE_EMPTY;
    return CAUSE_NONE;
}

static void update(struct uart *uart)
{
    (void)uart->ops->irq(uart->host, PORT_irq, cause(uart) != CAUSE_NONE);
}

/* -- registers -- */

static uint8_t line_status(const struct uart *uart)
{
    return (uint8_t)(LSR_thr_empty | LSR_idle | (uart->count > 0 ? LSR_ready : 0) | (uart->overrun ? LSR_overrun : 0));
}

/* In loop-back, DTR, RTS, OUT1 and OUT2 come back as DSR, CTS, RI and DCD. */
static uint8_t modem_status(const struct uart *uart)
{
    const unsigned out = uart->mcr;

    if (!(uart->mcr & MCR_loop))
        return MSR_CTS | MSR_DSR | MSR_CD;
    return (uint8_t)((out & 1u) << 5 | (out & 2u) << 3 | (out & 4u) << 4 | (out & 8u) << 4);
}

/* The value of a read, without its side effects. */
static uint8_t peek(const struct uart *uart, uint64_t offset)
{
    const int divisor = uart->lcr & LCR_dlab;

    switch (offset) {
    case AT_RBR:
        return divisor ? uart->divisor_low : uart->count ? uart->fifo[uart->first] : 0;
    case AT_IER:
        return divisor ? uart->divisor_high : uart->ier;
    case AT_IIR:
        return (uint8_t)(cause(uart) | (uart->fifo_enabled ? IIR_FIFO : 0));
    case AT_LCR:
        return uart->lcr;
    case AT_MCR:
        return uart->mcr;
    case AT_LSR:
        return line_status(uart);
    case AT_MSR:
        return modem_status(uart);
    default:
        return uart->scratch;
    }
}

static uint8_t read_byte(struct uart *uart, uint64_t offset)
{
    const int data = offset == AT_RBR && !(uart->lcr & LCR_dlab);
    uint8_t value;

    if (data || offset == AT_LSR)
        look_for_input(uart);
    value = peek(uart, offset);
    if (data)
        (void)take(uart);
    else if (offset == AT_LSR)
        uart->overrun = 0;
    else if (offset == AT_IIR && cause(uart) == CAUSE_EMPTY)
        uart->empty_pending = 0;
    return value;
}

static void write_enables(struct uart *uart, uint8_t value)
{
    if (value & IER_empty && !(uart->ier & IER_empty))
        uart->empty_pending = 1;
    uart->ier = value & IER_MASK;
    if (uart->ier & IER_received)
        (void)uart->ops->notify(uart->host, EVENT_POLL, uart->ops->now(uart->host) + uart->poll_interval);
    else
        (void)uart->ops->cancel(uart->host, EVENT_POLL);
}

static void write_byte(struct uart *uart, uint64_t offset, uint8_t value)
{
    const int divisor = uart->lcr & LCR_dlab;

    switch (offset) {
    case AT_THR:
        if (divisor)
            uart->divisor_low = value;
        else
            send(uart, value);
        break;
    case AT_IER:
        if (divisor)
            uart->divisor_high = value;
        else
            write_enables(uart, value);
        break;
    case AT_FCR:
        uart->fifo_enabled = value & FCR_enable;
        if (value & FCR_clear_received)
            uart->count = 0;
        break;
    case AT_LCR:
        uart->lcr = value;
        break;
    case AT_MCR:
        uart->mcr = value & MCR_MASK;
        break;
    case AT_SCR:
        uart->scratch = value;
        break;
    default: /* LSR and MSR are read-only */
        break;
    }
}

/* -- callbacks -- */

static int access_bytes(void *instance, uint32_t port, struct cnnvp_access *access)
{
    struct uart *uart = instance;
    uint8_t value;

    (void)port;
    if (access->op != CNNVP_READ && access->op != CNNVP_WRITE)
        return CNNVP_E_NOSUP;
    if (access->address >= OFFSETS)
        return CNNVP_E_ADDR;
    if (access->size != 1)
        return CNNVP_E_ACCESS;
    if (access->data == NULL)
        return CNNVP_E_INVAL;
    if (access->flags & CNNVP_DEBUG) {
        if (access->op == CNNVP_WRITE)
            return CNNVP_E_NOSUP;
        value = peek(uart, access->address);
        memcpy(access->data, &value, 1);
        return CNNVP_OK;
    }
    if (access->op == CNNVP_WRITE) {
        memcpy(&value, access->data, 1);
        write_byte(uart, access->address, value);
    } else {
        value = read_byte(uart, access->address);
        memcpy(access->data, &value, 1);
    }
    update(uart);
    return CNNVP_OK;
}

static void event(void *instance, uint32_t number)
{
    struct uart *uart = instance;

    (void)number;
    look_for_input(uart);
    (void)uart->ops->notify(uart->host, EVENT_POLL, uart->ops->now(uart->host) + uart->poll_interval);
    update(uart);
}

static void reset(void *instance)
{
    struct uart *uart = instance;

    uart->ier = uart->lcr = uart->mcr = uart->scratch = uart->divisor_low = uart->divisor_high = 0;
    uart->fifo_enabled = uart->overrun = uart->empty_pending = 0;
    uart->first = uart->count = 0;
    (void)uart->ops->cancel(uart->host, EVENT_POLL);
    update(uart);
}

static int init(void *instance, const struct cnnvp_init *init)
{
    struct uart *uart = instance;

    uart->ops = init->ops;
    uart->host = init->host;
    uart->poll_interval = init->ops->param(init->host, PARAM_poll_us) * 1000000u;
    return CNNVP_OK;
}

static void costs_of(const uint64_t *params, const struct cnnvp_costs *costs)
{
    (void)params;
    cnnvp_say_part(costs, CNNVP_PART_REGISTER, 8u, 40u, "FIFOs and registers");
}

#include "unit/unit_tables.inc"

const struct cnnvp_unit cnnvp_unit_uart = {
    UNIT_TABLES,
    .kind = "uart",
    .version = "1.0",
    .summary = "serial port with 16550 registers, connected to the terminal",
    .instance_size = sizeof(struct uart),
    .event_count = EVENTS,
    .init = init,
    .reset = reset,
    .access = access_bytes,
    .event = event,
    .costs = costs_of,
};
