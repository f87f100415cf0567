#define _GNU_SOURCE
#include "support/temporary_folder.h"

#include <check.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

const char *test_enter_temporary_folder(void)
{
    /* in memory where that is possible: checkpoints flush, and a busy disk would make the tests wait */
    bool in_memory = access("/dev/shm", W_OK) == 0;
    snprintf(folder, sizeof folder, "%s/twang-test-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    return folder;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

void test_leave_temporary_folder(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}
