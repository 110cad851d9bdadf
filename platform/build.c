/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base.h"
#include "cnnvp.h"

enum { FILES = 64 };

/* A file from which code was loaded. */
struct object {
    char name[1024]; /* the program itself is opened through the kernel's name, even if another file has replaced it */
    uint64_t hash;   /* 0: not computed yet */
};

static struct object objects[FILES];
static size_t object_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- bytes ---- */

/* Adds the loaded parts of an ELF file for this machine, or the whole of any other file. */
static void add_bytes(XXH3_state_t *state, const unsigned char *bytes, size_t size)
{
    const ElfW(Ehdr) *head = (const void *)bytes;
    const int is_elf = size >= sizeof *head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
                       head->e_phentsize == sizeof(ElfW(Phdr)) && head->e_phoff <= size &&
                       head->e_phnum <= (size - head->e_phoff) / sizeof(ElfW(Phdr));
    const ElfW(Phdr) *part = is_elf ? (const void *)(bytes + head->e_phoff) : NULL;
    (void)XXH3_64bits_update(state, &size, sizeof size);
    for (int i = 0; is_elf && i < head->e_phnum; ++i)
        if (part[i].p_type == PT_LOAD && part[i].p_offset <= size && part[i].p_filesz <= size - part[i].p_offset)
            (void)XXH3_64bits_update(state, bytes + part[i].p_offset, part[i].p_filesz);
    if (!is_elf)
        (void)XXH3_64bits_update(state, bytes, size);
}

/* Returns 0 if the file cannot be read. */
static uint64_t hash_file(const char *file)
{
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    struct stat status;
    XXH3_state_t *state = XXH3_createState();
    void *bytes = MAP_FAILED;
    uint64_t hash = 0;
    if (descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes != MAP_FAILED && state != NULL && XXH3_64bits_reset(state) == XXH_OK) {
        add_bytes(state, bytes, (size_t)status.st_size);
        hash = XXH3_64bits_digest(state);
    }
    if (bytes != MAP_FAILED)
        (void)munmap(bytes, (size_t)status.st_size);
    if (descriptor >= 0)
        (void)close(descriptor);
    (void)XXH3_freeState(state);
    return hash;
}

uint64_t cnnvp_build_hash(const void *bytes, size_t size)
{
    const uint64_t hash = XXH3_64bits(bytes, size);
    return hash ? hash : 1;
}

/* ---- files of code ---- */

/* The file that contains the address, for 0 SystemC's library; NULL: none. Call it with the lock held. */
static const struct object *object_of(uintptr_t address)
{
    char file[sizeof objects->name];
    if (!cnnvp_loaded_file(address, "libsystemc", file, sizeof file))
        return NULL;
    for (size_t i = 0; i < object_count; ++i)
        if (strcmp(objects[i].name, file) == 0)
            return &objects[i];
    if (object_count == FILES)
        return NULL;
    struct object *made = &objects[object_count++];
    memcpy(made->name, file, sizeof file);
    made->hash = hash_file(made->name);
    return made;
}

const char *cnnvp_build(void)
{
    static char name[CNNVP_BUILD_BYTES];
    (void)pthread_mutex_lock(&lock);
    if (!*name) {
        const struct object *own = object_of((uintptr_t)objects), *systemc = object_of(0);
        const uint64_t hashes[] = {own != NULL ? own->hash : 0, systemc != NULL ? systemc->hash : 0};
        (void)snprintf(name, sizeof name, "%016" PRIx64, (uint64_t)XXH3_64bits(hashes, sizeof hashes));
    }
    (void)pthread_mutex_unlock(&lock);
    return name;
}

/* The library of an instance's unit if no earlier instance comes from it. NULL: none, or the simulator's own file. */
static const struct object *library_of(const struct cnnvp_resolved *platform, size_t instance)
{
    const struct object *own = object_of((uintptr_t)objects);
    const uintptr_t unit = (uintptr_t)platform->instances[instance].unit; /* 0: the bus, which has no unit */
    const struct object *mine = unit != 0 ? object_of(unit) : NULL;
    for (size_t i = 0; i < instance && mine != NULL; ++i)
        if (platform->instances[i].unit != NULL && object_of((uintptr_t)platform->instances[i].unit) == mine)
            return NULL;
    return mine != own ? mine : NULL;
}

char *cnnvp_build_text(const struct cnnvp_resolved *platform, uint64_t program)
{
    struct cnnvp_printed printed;
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream == NULL)
        return NULL;
    (void)fputs(cnnvp_build(), stream);
    if (program)
        (void)fprintf(stream, " program %016" PRIx64, program);
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < platform->instance_count; ++i) {
        const struct object *library = library_of(platform, i);
        if (library != NULL)
            (void)fprintf(stream, " %s %016" PRIx64, cnnvp_base_name(library->name), library->hash);
    }
    (void)pthread_mutex_unlock(&lock);
    return cnnvp_print_end(&printed);
}
