/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mixed guest kernel for measuring the core's speed: sorting, CRC, matrices, strings, a linked list, a state
 * machine. Compiled for the guest with -O2. Each part's result goes into one checksum, which must be EXPECTED: the
 * benchmark tests the core as well. rv32_run -n 10000000000 -m bench.elf prints the speed.
 */
#include <stddef.h>
#include <stdint.h>

#define ROUNDS 300           /* about 136 million instructions */
#define EXPECTED 0x41694c42u /* as computed by the same source on an x86-64 host */

volatile uint32_t tohost __attribute__((section(".tohost"), aligned(64)));

static uint32_t seed = 1;
static int32_t numbers[1024];
static int16_t left[24][24], right[24][24];
static int32_t product[24][24];
static char text[2048];
static struct node {
    struct node *next;
    uint32_t value;
} nodes[512];

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

void *memset(void *at, int value, size_t size)
{
    char *p = at;
    while (size-- > 0)
        *p++ = (char)value;
    return at;
}

void *memcpy(void *to, const void *from, size_t size)
{
    char *p = to;
    const char *q = from;
    while (size-- > 0)
        *p++ = *q++;
    return to;
}

static void quick_sort(int32_t *a, int low, int high)
{
    while (low < high) {
        int32_t pivot = a[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot)
                ++i;
            while (a[j] > pivot)
                --j;
            if (i <= j) {
                int32_t t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        quick_sort(a, low, j);
        low = i;
    }
}

static uint32_t sort(void)
{
    uint32_t sum = 0;
    for (int i = 0; i < 1024; ++i)
        numbers[i] = (int32_t)next_random() - 0x800000;
    quick_sort(numbers, 0, 1023);
    for (int i = 0; i < 1024; i += 64)
        sum = sum * 31u + (uint32_t)numbers[i];
    return sum;
}

static uint32_t crc(const uint8_t *data, size_t size)
{
    uint32_t value = 0xffffffffu;
    for (size_t i = 0; i < size; ++i) {
        value ^= data[i];
        for (int bit = 0; bit < 8; ++bit)
            value = value & 1u ? value >> 1 ^ 0xedb88320u : value >> 1;
    }
    return ~value;
}

static uint32_t matrix(void)
{
    uint32_t sum = 0;
    for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 24; ++j) {
            left[i][j] = (int16_t)next_random();
            right[i][j] = (int16_t)next_random();
        }
    for (int i = 0; i < 24; ++i)
        for (int j = 0; j < 24; ++j) {
            int32_t dot = 0;
            for (int k = 0; k < 24; ++k)
                dot += left[i][k] * right[k][j] >> 4;
            product[i][j] = dot;
            sum ^= (uint32_t)dot + (uint32_t)j;
        }
    return sum;
}

static uint32_t strings(void)
{
    uint32_t words = 0, hash = 5381;
    char copy[sizeof text];
    for (size_t i = 0; i < sizeof text - 1; ++i)
        text[i] = next_random() % 6 == 0 ? ' ' : (char)('a' + next_random() % 26);
    memcpy(copy, text, sizeof text);
    for (char *p = copy; *p != 0; ++p) {
        if (*p == ' ' && p[1] != ' ')
            ++words;
        else if (*p >= 'a' && *p <= 'z')
            *p = (char)(*p - 'a' + 'A');
        hash = hash * 33u ^ (uint8_t)*p;
    }
    return hash + words;
}

static uint32_t list(void)
{
    struct node *head = NULL;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 512; ++i) {
        struct node *n = &nodes[i * 197u % 512u];
        n->value = next_random();
        n->next = head;
        head = n;
    }
    for (int pass = 0; pass < 4; ++pass)
        for (struct node *n = head; n != NULL; n = n->next)
            sum = n->value & 1u ? sum + n->value : sum ^ n->value;
    return sum;
}

/* A state machine over the text, by a switch. */
static uint32_t machine(void)
{
    enum { START, WORD, VOWEL, END } state = START;
    uint32_t counts[4] = {0};
    for (const char *p = text; *p != 0; ++p) {
        switch (*p) {
        case 'a':
        case 'e':
        case 'i':
        case 'o':
        case 'u':
            state = state == VOWEL ? END : VOWEL;
            break;
        case ' ':
            state = START;
            break;
        case 'q':
        case 'x':
        case 'z':
            state = END;
            break;
        default:
            state = state == START ? WORD : state;
            break;
        }
        ++counts[state];
    }
    return counts[0] + 3u * counts[1] + 5u * counts[2] + 7u * counts[3];
}

int main(void)
{
    uint32_t sum = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        sum = sum * 7u + sort();
        sum = sum * 7u + matrix();
        sum = sum * 7u + strings();
        sum = sum * 7u + crc((const uint8_t *)text, sizeof text);
        sum = sum * 7u + list();
        sum = sum * 7u + machine();
    }
    tohost = sum == EXPECTED ? 1u : 3u;
    for (;;)
        continue;
}

__attribute__((naked, section(".text.start"))) void _start(void)
{
    __asm__ volatile("la sp, __stack_top\n j main");
}
