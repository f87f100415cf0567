/* A folder that a test may fill; removed with what is in it. */
#ifndef TESTS_TEMPORARY_FOLDER_H
#define TESTS_TEMPORARY_FOLDER_H

/* Makes one and goes there; the name is good until the next call. Fails the test if that is not possible. */
const char *test_enter_temporary_folder(void);
/* Goes back to / and removes it. */
void test_leave_temporary_folder(void);

#endif
