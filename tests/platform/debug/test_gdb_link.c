/* SPDX-License-Identifier: Apache-2.0 */
/* Packets over a connection of this process with itself. */
#include "test.h"

#include "gdb_link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static struct cnnvp_gdb_link line;
static int client;

static int connect_client(void)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)line.port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int file = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(file, (const struct sockaddr *)&address, sizeof address), 0);
    return file;
}

static int set_up(void **state)
{
    struct cnnvp_error error = {""};

    (void)state;
    (void)alarm(20); /* not waiting for ever where a packet is missed */
    assert_int_equal(cnnvp_gdb_link_open(&line, "0", &error), CNNVP_DONE);
    client = connect_client();
    return cnnvp_gdb_link_accept(&line) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    cnnvp_gdb_link_close(&line);
    return close(client);
}

static void say(const char *text)
{
    assert_int_equal(send(client, text, strlen(text), 0), strlen(text));
}

static void assert_received(const char *expected)
{
    size_t size = 0;
    const char *packet = cnnvp_gdb_link_receive(&line, &size);

    assert_non_null(packet);
    assert_string_equal(packet, expected);
    assert_int_equal(size, strlen(expected));
}

/* All that the client has been sent. */
static void assert_sent(const char *expected)
{
    char text[64] = "";
    size_t size = 0;

    while (size < strlen(expected)) {
        const ssize_t got = recv(client, text + size, sizeof text - 1 - size, 0);
        assert_true(got > 0);
        size += (size_t)got;
    }
    assert_string_equal(text, expected);
}

static void packets_are_checked_and_acknowledged(void **state)
{
    (void)state;
    say("+$g#67");
    assert_received("g");
    assert_sent("+");
    say("$lost$m}\x03#ed"); /* the first one never ended; of an escaped byte both count */
    assert_received("m#");
    assert_sent("+");
    say("$g#68$p#7x$p#70"); /* two damaged ones */
    assert_received("p");
    assert_sent("--+");
    line.acknowledge = 0;
    say("$g#67");
    assert_received("g");
    cnnvp_gdb_link_send(&line, "", 0);
    assert_sent("$#00");
}

static void answers_are_escaped_and_sent_again(void **state)
{
    (void)state;
    cnnvp_gdb_link_send(&line, "a#}", 3);
    assert_sent("$a}\x03}]#bb");
    say("-$g#67");
    assert_received("g");
    assert_sent("$a}\x03}]#bb+");
}

static void packets_that_are_too_long_are_damaged(void **state)
{
    static char text[CNNVP_GDB_PACKET + 16];

    (void)state;
    for (size_t size = CNNVP_GDB_PACKET; size <= CNNVP_GDB_PACKET + 1; ++size) {
        text[0] = '$';
        memset(text + 1, '@', size); /* a sum of 0x40 for each, of 4096 none */
        strcpy(text + 1 + size, size == CNNVP_GDB_PACKET ? "#00" : "#40$g#67");
        say(text);
        text[1 + size] = 0;
        assert_received(size == CNNVP_GDB_PACKET ? text + 1 : "g");
        assert_sent(size == CNNVP_GDB_PACKET ? "+" : "-+");
    }
}

static void a_running_program_hears_an_interrupt_alone(void **state)
{
    (void)state;
    assert_int_equal(cnnvp_gdb_link_calls(&line), 0);
    say("ab\x03");
    assert_int_equal(cnnvp_gdb_link_calls(&line), 1);
    assert_int_equal(cnnvp_gdb_link_calls(&line), 0);
}

/* The next one after it has gone is welcome. */
static void a_second_client_is_turned_away(void **state)
{
    char byte;
    int second = connect_client();
    size_t size;

    (void)state;
    assert_int_equal(cnnvp_gdb_link_calls(&line), 0);
    assert_true(recv(second, &byte, 1, 0) <= 0);
    (void)close(second);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    assert_null(cnnvp_gdb_link_receive(&line, &size));
    assert_int_equal(line.client, -1);
    second = connect_client();
    assert_int_equal(cnnvp_gdb_link_calls(&line), 1);
    assert_true(line.client >= 0);
    (void)close(second);
}

static void other_ports_are_refused(void **state)
{
    static const char *const wrong[] = {"", "65536", "-1", "12a", "99999999999999999999"};
    struct cnnvp_gdb_link other;
    struct cnnvp_error error = {""};
    char port[16];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(cnnvp_gdb_link_open(&other, wrong[i], &error), CNNVP_BAD_INPUT);
        assert_non_null(strstr(error.text, "is no port; a number from 1 to 65535"));
    }
    (void)snprintf(port, sizeof port, "%u", line.port);
    assert_int_equal(cnnvp_gdb_link_open(&other, port, &error), CNNVP_BAD_INPUT);
    assert_non_null(strstr(error.text, "cannot be used"));
    assert_int_equal(other.listener, -1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(packets_are_checked_and_acknowledged),  CASE(answers_are_escaped_and_sent_again),
        CASE(packets_that_are_too_long_are_damaged), CASE(a_running_program_hears_an_interrupt_alone),
        CASE(a_second_client_is_turned_away),        CASE(other_ports_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
