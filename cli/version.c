/* `twang --version --verbose`: the libraries that this process really has loaded, each with its version and licence. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include <ctype.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../viewer/view.h"
#include "command.h"

enum { NAME_SIZE = 64 };

static const char gcc_runtime[] = "GPL-3.0-or-later WITH GCC-exception-3.1";
static const char bsd[] = "BSD-3-Clause";
static const char lgpl[] = "LGPL-2.1-or-later";

#ifdef TWANG_GPL
static const char cholmod[] = "LGPL-2.1-or-later, and GPL-2.0-or-later for the supernodal module, "
                              "which is called (see NOTICE)";
#else
static const char cholmod[] = "LGPL-2.1-or-later; its GPL modules are never called (see NOTICE)";
#endif

/* The licence of a library by the beginning of its file name, the longest ones first. */
static const struct {
    const char *beginning;
    const char *licence;
} licences[] = {
    {"libsuitesparseconfig", bsd},
    {"libwebsockets", "MIT"},
    {"libquadmath", "LGPL-2.0-or-later"},
    {"libsundials", bsd},
    {"libgfortran", gcc_runtime},
    {"libopenblas", bsd},
    {"libcholmod", cholmod},
    {"libjansson", "MIT"},
    {"libccolamd", bsd},
    {"liblapack", bsd}, /* also liblapacke */
    {"libcolamd", bsd},
    {"ld-linux", lgpl},
    {"libtmglib", bsd},
    {"libcrypto", "Apache-2.0"},
    {"libmetis", "Apache-2.0"},
    {"libgcc_s", gcc_runtime},
    {"libtwang", "MIT"},
    {"libubsan", "Apache-2.0 WITH LLVM-exception"},
    {"libcamd", bsd},
    {"libblas", bsd},
    {"libgomp", gcc_runtime},
    {"libasan", "Apache-2.0 WITH LLVM-exception"},
    {"libyaml", "MIT"},
    {"libssl", "Apache-2.0"},
    {"libcap", "BSD-3-Clause or GPL-2.0-only"},
    {"libamd", bsd},
    {"libklu", lgpl},
    {"libbtf", lgpl},
    {"libomp", "Apache-2.0 WITH LLVM-exception"},
    {"libz.", "Zlib"},
    {"libc.", lgpl},
    {"libm.", lgpl},
    {"libmvec.", lgpl},
    {"libdl.", lgpl},
    {"librt.", lgpl},
    {"libpthread.", lgpl},
    {"libstdc++", gcc_runtime},
    {"libarcher", "Apache-2.0 WITH LLVM-exception"},
};

static const char *licence_of(const char *file)
{
    enum { LICENCE_COUNT = sizeof licences / sizeof *licences };

    for (int i = 0; i < LICENCE_COUNT; i++)
        if (strncmp(file, licences[i].beginning, strlen(licences[i].beginning)) == 0)
            return licences[i].licence;

    return "licence unknown to twang";
}

/* glibc's files have the number of their interface in their names, not their version. */
static bool is_glibc(const char *file)
{
    static const char *const names[] = {"libc.so", "libm.so", "ld-linux", "libmvec.so"};
    enum { NAME_COUNT = sizeof names / sizeof *names };

    for (int i = 0; i < NAME_COUNT; i++)
        if (strncmp(file, names[i], strlen(names[i])) == 0) return true;
    return false;
}

/* The version in the name of a file: "3.0.14" of libcholmod.so.3.0.14, "0.3.21" of libopenblasp-r0.3.21.so. */
static void version_of(const char *file, char version[NAME_SIZE])
{
    /* Where it begins: after ".so." or "-r". glibc is asked itself. */
    const char *begin = strstr(file, ".so.");
    begin = begin ? begin + strlen(".so.") : strstr(file, "-r");
    if (begin && *begin == '-') begin += strlen("-r");
    if (is_glibc(file)) begin = gnu_get_libc_version();

    /* Digits and points, without points at the end. */
    size_t length = 0;
    while (begin && length + 1 < NAME_SIZE &&
           (isdigit((unsigned char)begin[length]) || begin[length] == '.')) {
        version[length] = begin[length];
        length++;
    }
    while (length > 0 && version[length - 1] == '.') length--;
    version[length] = '\0';
}

/* The name of a library: its file up to ".so". */
static void name_of(const char *file, char name[NAME_SIZE])
{
    const char *end = strstr(file, ".so");
    int length = end ? (int)(end - file) : (int)strlen(file);
    snprintf(name, NAME_SIZE, "%.*s", length, file);
}

static int print_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;

    /* The program itself has no name, and what the kernel maps has no folder. */
    if (!strchr(info->dlpi_name, '/')) return 0;

    /* The name by which it is known, and the file behind all links, which has the version. */
    char *real = realpath(info->dlpi_name, NULL);
    const char *path = real ? real : info->dlpi_name;
    const char *known = strrchr(info->dlpi_name, '/') + 1;

    char name[NAME_SIZE];
    char version[NAME_SIZE];
    name_of(known, name);
    version_of(strrchr(path, '/') + 1, version);

    printf("  %-20s %-10s %s\n", name, version, licence_of(known));
    free(real);
    return 0;
}

void print_version(bool verbose)
{
    printf("twang %s\n", tw_version());
    if (!verbose) return;

    printf("MIT licence. Loaded libraries: name, version, licence\n");
    dl_iterate_phdr(print_library, NULL);
    printf("In the page of twang view and twang report:\n%s", view_page_packages());
}
