/* labels: threads */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <twang/twang.h>

#include "base/log_line.h"
#include "base/timer.h"
#include "support/run_suite.h"

typedef struct journal {
    int lines;
    int inside; /* calls under way; never above one */
    int overlaps;
    tw_log_level level;
    char last[600];
} journal;

static void write_journal(void *context, tw_log_level level, const char *line)
{
    journal *book = context;
    if (++book->inside != 1) book->overlaps++;
    book->lines++;
    book->level = level;
    strncpy(book->last, line, sizeof book->last - 1);
    book->inside--;
}

START_TEST(hook_gets_what_it_wants)
{
    journal book = {0};
    tw_log_line(TW_LOG_WARNING, "nobody listens");
    tw_log_set(write_journal, &book, TW_LOG_INFO);
    tw_log_line(TW_LOG_DEBUG, "unwanted %d", 1);
    ck_assert_int_eq(book.lines, 0);
    tw_log_line(TW_LOG_INFO, "step %d of %g s", 3, 0.5);
    ck_assert_str_eq(book.last, "step 3 of 0.5 s");
    ck_assert_int_eq(book.level, TW_LOG_INFO);
    tw_log_line(TW_LOG_WARNING, "w");
    ck_assert_int_eq(book.lines, 2);
    tw_log_set(NULL, NULL, TW_LOG_DEBUG);
    tw_log_line(TW_LOG_WARNING, "nobody listens");
    ck_assert_int_eq(book.lines, 2);
}
END_TEST

START_TEST(long_lines_are_cut)
{
    journal book = {0};
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tw_log_set(write_journal, &book, TW_LOG_DEBUG);
    tw_log_line(TW_LOG_INFO, "%s", text);
    tw_log_set(NULL, NULL, TW_LOG_DEBUG);
    ck_assert_uint_eq(strlen(book.last), 511);
}
END_TEST

enum { WRITERS = 4, LINES = 2000 };

static void *write_lines(void *context)
{
    (void)context;
    for (int i = 0; i < LINES; i++) tw_log_line(TW_LOG_INFO, "line %d", i);
    return NULL;
}

START_TEST(threads_do_not_overlap_in_the_hook)
{
    journal book = {0};
    tw_log_set(write_journal, &book, TW_LOG_DEBUG);
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_lines, NULL), 0);
    for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);
    tw_log_set(NULL, NULL, TW_LOG_DEBUG);
    ck_assert_int_eq(book.lines, WRITERS * LINES);
    ck_assert_int_eq(book.overlaps, 0);
}
END_TEST

/* A journal belongs to one hook; once tw_log_set has returned nobody may write to the one before. */
START_TEST(a_replaced_hook_is_at_rest)
{
    pthread_t writers[WRITERS];
    journal before = {0};
    tw_log_set(write_journal, &before, TW_LOG_DEBUG);
    for (int i = 0; i < WRITERS; i++)
        ck_assert_int_eq(pthread_create(&writers[i], NULL, write_lines, NULL), 0);
    int total = 0;
    for (int round = 0; round < 200; round++) {
        journal next = {0};
        tw_log_set(write_journal, &next, TW_LOG_DEBUG);
        tw_log_line(TW_LOG_INFO, "mine");
        tw_log_set(write_journal, &before, TW_LOG_DEBUG);
        total += next.lines; /* on the stack, unlocked: a race if the hook still ran (TSan) */
    }
    for (int i = 0; i < WRITERS; i++) pthread_join(writers[i], NULL);
    tw_log_set(NULL, NULL, TW_LOG_DEBUG);
    ck_assert_int_eq(total + before.lines, WRITERS * LINES + 200);
}
END_TEST

START_TEST(clock_goes_forward)
{
    double last = tw_clock();
    for (int i = 0; i < 1000; i++) {
        double now = tw_clock();
        ck_assert(now >= last);
        last = now;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *cases = tcase_create("log");
    tcase_add_test(cases, hook_gets_what_it_wants);
    tcase_add_test(cases, long_lines_are_cut);
    tcase_add_test(cases, threads_do_not_overlap_in_the_hook);
    tcase_add_test(cases, a_replaced_hook_is_at_rest);
    tcase_add_test(cases, clock_goes_forward);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
