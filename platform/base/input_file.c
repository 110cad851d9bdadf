/* SPDX-License-Identifier: Apache-2.0 */
#include "input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

int cnnvp_input_is_lfs(int descriptor)
{
    static const char begin[] = "version https://git-lfs.github.com/spec/";
    char bytes[sizeof begin - 1];
    return pread(descriptor, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
           memcmp(bytes, begin, sizeof bytes) == 0;
}

int cnnvp_input_open(const char *name, const char *what, size_t *size, struct cnnvp_error *error)
{
    struct stat status;
    /* Of a regular file O_NONBLOCK changes nothing. */
    const int descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        (void)cnnvp_config_error(error, name, "%s", strerror(errno));
        return -1;
    }
    const int regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (regular && !cnnvp_input_is_lfs(descriptor)) {
        *size = (size_t)status.st_size;
        return descriptor;
    }
    if (regular)
        (void)cnnvp_config_error(error, name, "%s", CNNVP_LFS_POINTER);
    else
        (void)cnnvp_config_error(error, name, "not a regular file; %s is needed", what);
    (void)close(descriptor);
    return -1;
}
