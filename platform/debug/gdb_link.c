/* SPDX-License-Identifier: Apache-2.0 */
#include "gdb_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base.h"

#define INTERRUPT 0x03
enum { LAST_WORDS = 64 };

static int parse_port(const char *text, unsigned *port)
{
    char *end = NULL;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    *port = (unsigned)value;
    return *text >= '0' && *text <= '9' && *end == 0 && errno == 0 && value <= 65535u;
}

cnnvp_result cnnvp_gdb_link_open(struct cnnvp_gdb_link *link, const char *port, struct cnnvp_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int on = 1;
    link->client = link->listener = -1;
    if (!parse_port(port, &link->port))
        return cnnvp_config_error(
            error, "--gdb", "`%.40s` is no port; a number from 1 to 65535, or 0 for any that is free", port);
    address.sin_port = htons((uint16_t)link->port);
    link->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (link->listener >= 0 && setsockopt(link->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(link->listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
        listen(link->listener, 1) == 0 && getsockname(link->listener, (struct sockaddr *)&address, &size) == 0) {
        link->port = ntohs(address.sin_port);
        return CNNVP_DONE;
    }
    (void)snprintf(error->text, sizeof error->text, "--gdb: port %u cannot be used: %s", link->port, strerror(errno));
    cnnvp_gdb_link_close(link);
    return CNNVP_BAD_INPUT;
}

void cnnvp_gdb_link_close(struct cnnvp_gdb_link *link)
{
    cnnvp_gdb_link_drop(link);
    if (link->listener >= 0)
        (void)close(link->listener);
    link->listener = -1;
}

void cnnvp_gdb_link_drop(struct cnnvp_gdb_link *link)
{
    if (link->client >= 0)
        (void)close(link->client);
    link->client = -1;
}

int cnnvp_gdb_link_accept(struct cnnvp_gdb_link *link)
{
    const int on = 1;
    const int client = accept(link->listener, NULL, NULL);
    if (client < 0)
        return 0;
    (void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* packets are small and waited for */
    link->client = client;
    link->acknowledge = 1;
    link->held = link->taken = link->packet_size = link->sent_size = 0;
    return 1;
}

void cnnvp_gdb_link_finish(struct cnnvp_gdb_link *link)
{
    struct pollfd what = {.fd = link->client, .events = POLLIN};
    int open = link->client >= 0 && shutdown(link->client, SHUT_WR) == 0;
    for (int i = 0; open && i < LAST_WORDS; ++i)
        open = poll(&what, 1, 1000) > 0 && recv(link->client, link->input, sizeof link->input, 0) > 0;
    cnnvp_gdb_link_drop(link);
}

static int is_ready(int file)
{
    struct pollfd what = {.fd = file, .events = POLLIN};
    return file >= 0 && poll(&what, 1, 0) > 0;
}

static void turn_away(const struct cnnvp_gdb_link *link)
{
    const int other = accept(link->listener, NULL, NULL);
    if (other >= 0)
        (void)close(other);
}

/* Reads more input. Returns 0 if the client has gone, or a signal came. */
static int fill(struct cnnvp_gdb_link *link)
{
    const ssize_t got = recv(link->client, link->input, sizeof link->input, 0);
    link->taken = 0;
    link->held = got > 0 ? (size_t)got : 0;
    if (got <= 0)
        cnnvp_gdb_link_drop(link);
    return got > 0;
}

int cnnvp_gdb_link_calls(struct cnnvp_gdb_link *link)
{
    /* Notice the end of the old client before a new one; the caller sees it in `client`. */
    if (link->taken == link->held && is_ready(link->client) && !fill(link))
        return 0;
    if (is_ready(link->listener)) {
        if (link->client < 0)
            return cnnvp_gdb_link_accept(link);
        turn_away(link);
    }
    /* While the program runs, a client may only send an interrupt. */
    while (link->taken < link->held)
        if (link->input[link->taken++] == INTERRUPT)
            return 1;
    return 0;
}

/* Returns the next byte, or -1. */
static int next(struct cnnvp_gdb_link *link)
{
    if (link->client < 0)
        return -1;
    while (link->taken == link->held) {
        struct pollfd files[] = {{.fd = link->client, .events = POLLIN}, {.fd = link->listener, .events = POLLIN}};
        if (poll(files, 2, -1) < 0) {
            cnnvp_gdb_link_drop(link);
            return -1;
        }
        if (files[0].revents == 0)
            turn_away(link);
        else if (!fill(link))
            return -1;
    }
    return (unsigned char)link->input[link->taken++];
}

static void put(struct cnnvp_gdb_link *link, const char *data, size_t size)
{
    while (size > 0 && link->client >= 0) {
        const ssize_t done = send(link->client, data, size, MSG_NOSIGNAL);
        if (done <= 0) {
            cnnvp_gdb_link_drop(link);
            return;
        }
        data += done;
        size -= (size_t)done;
    }
}

/* Reads the packet after '$'. Returns 1 with a packet, 0 if it was damaged, -1 if the client has gone. */
static int read_packet(struct cnnvp_gdb_link *link)
{
    unsigned sum = 0;
    int escape = 0, c;
    link->packet_size = 0;
    while ((c = next(link)) >= 0 && c != '#') {
        if (c == '$') { /* the previous packet was incomplete */
            sum = 0;
            link->packet_size = 0;
            escape = 0;
            continue;
        }
        sum += (unsigned)c;
        if (!escape && c == '}') {
            escape = 1;
            continue;
        }
        if (link->packet_size <= CNNVP_GDB_PACKET)
            link->packet[link->packet_size++] = (char)(escape ? c ^ 0x20 : c);
        escape = 0;
    }
    const int high = c >= 0 ? next(link) : -1;
    const int low = high >= 0 ? next(link) : -1;
    if (low < 0)
        return -1;
    const int fits = link->packet_size <= CNNVP_GDB_PACKET;
    link->packet[fits ? link->packet_size : 0] = 0;
    const int digits[2] = {cnnvp_hex_digit(high), cnnvp_hex_digit(low)};
    return fits && digits[0] >= 0 && digits[1] >= 0 && (unsigned)(digits[0] << 4 | digits[1]) == (sum & 0xffu);
}

const char *cnnvp_gdb_link_receive(struct cnnvp_gdb_link *link, size_t *size)
{
    for (int c; (c = next(link)) >= 0;) {
        if (c == '-')
            put(link, link->sent, link->sent_size);
        if (c != '$')
            continue;
        const int good = read_packet(link);
        if (good < 0)
            break;
        if (link->acknowledge)
            put(link, good ? "+" : "-", 1);
        if (!good)
            continue;
        *size = link->packet_size;
        return link->packet;
    }
    return NULL;
}

void cnnvp_gdb_link_send(struct cnnvp_gdb_link *link, const char *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    unsigned sum = 0;
    size_t n = 0;
    link->sent[n++] = '$';
    for (size_t i = 0; i < size && i < CNNVP_GDB_PACKET; ++i) {
        if (data[i] == '$' || data[i] == '#' || data[i] == '}' || data[i] == '*') {
            link->sent[n++] = '}';
            link->sent[n++] = (char)(data[i] ^ 0x20);
            sum += (unsigned char)'}';
        } else {
            link->sent[n++] = data[i];
        }
        sum += (unsigned char)link->sent[n - 1];
    }
    link->sent[n++] = '#';
    link->sent[n++] = digits[sum >> 4 & 15u];
    link->sent[n++] = digits[sum & 15u];
    link->sent_size = n;
    put(link, link->sent, n);
}
