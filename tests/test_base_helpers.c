/* Small helpers of src/base: growing text, whole files, the start vector, 3-vectors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/read_file.h"
#include "base/start_vector.h"
#include "base/text.h"
#include "base/vector3.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

START_TEST(text_grows)
{
    tw_text text = {0};
    char expected[4000];
    size_t length = 0;
    for (int i = 0; i < 500; i++) {
        tw_text_add(&text, "%d;", i);
        length += (size_t)snprintf(expected + length, sizeof expected - length, "%d;", i);
    }
    ck_assert(!text.failed);
    ck_assert_uint_eq(text.size, length);
    ck_assert_str_eq(text.bytes, expected);

    tw_text_clear(&text);
    tw_text_add_bytes(&text, "a\0b", 3);
    tw_text_add_number(&text, 0.5);
    ck_assert_uint_eq(text.size, 6);
    ck_assert_int_eq(memcmp(text.bytes, "a\0b0.5", 7), 0);
    tw_text_free(&text);
    ck_assert_ptr_null(text.bytes);
}
END_TEST

/* A file of `size` bytes; byte i is i modulo 251. */
static void write_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < size; i++) fputc((int)(i % 251), file);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(file_is_read_whole)
{
    const size_t sizes[] = {0, 1, 65535, 65536, 200000};
    const char *path = "numbers";
    test_enter_temporary_folder();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        char *bytes = NULL;
        size_t size = 0;
        write_file(path, sizes[k]);
        ck_assert_int_eq(tw_read_file(path, TW_READ_ALL, &bytes, &size, NULL), TW_OK);
        ck_assert_uint_eq(size, sizes[k]);
        for (size_t i = 0; i < size; i++) ck_assert_uint_eq((unsigned char)bytes[i], i % 251);
        ck_assert_int_eq(bytes[size], 0);
        tw_release(bytes);

        /* With a limit, at least one byte more than the limit comes if there is one. */
        ck_assert_int_eq(tw_read_file(path, 1000, &bytes, &size, NULL), TW_OK);
        ck_assert_int_eq(size > 1000, sizes[k] > 1000);
        tw_release(bytes);
    }
    test_leave_temporary_folder();
}
END_TEST

static tw_status read_and_forget(void *context)
{
    char *bytes = NULL;
    size_t size = 0;
    tw_status status = tw_read_file(context, TW_READ_ALL, &bytes, &size, NULL);
    tw_release(bytes);
    return status;
}

START_TEST(file_without_memory)
{
    char path[] = "numbers";
    test_enter_temporary_folder();
    write_file(path, 100);
    ck_assert_int_ge(test_fail_each_allocation(read_and_forget, path), 1);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(file_that_cannot_be_read)
{
    char *bytes = NULL;
    size_t size = 0;
    tw_error error = {0};
    tw_status status = tw_read_file("no/such.txt", TW_READ_ALL, &bytes, &size, &error);
    ck_assert_int_eq(status, TW_INPUT_OUTPUT);
    ck_assert_str_eq(error.text, "no/such.txt: cannot be opened: No such file or directory");
    ck_assert_ptr_null(bytes);

    status = tw_read_file("/", TW_READ_ALL, &bytes, &size, &error);
    ck_assert_int_eq(status, TW_INPUT_OUTPUT);
    ck_assert_str_eq(error.text, "/: cannot be read: Is a directory");
    ck_assert_ptr_null(bytes);
}
END_TEST

START_TEST(start_vector_is_the_same_everywhere)
{
    enum { N = 40000 };
    double *x = TW_NEW_ARRAY(N, double);
    ck_assert_ptr_nonnull(x);
    tw_fill_start_vector(N, x);

    /* The first number of SplitMix64 with seed 0. */
    ck_assert_uint_eq(tw_random_bits(0), 0xE220A8397B1DCDAFu);
    double mean = 0;
    for (int i = 0; i < N; i++) {
        ck_assert(x[i] >= -1 && x[i] < 1);
        mean += x[i] / N;
    }
    ck_assert_double_le(fabs(mean), 0.02);
    tw_release(x);
}
END_TEST

START_TEST(vectors_of_three)
{
    const double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    vec3 a = vec3_at(vertices, 1);
    vec3 b = vec3_at(vertices, 2);
    vec3 c = vec3_cross(a, b);
    ck_assert(c.x == 0 && c.y == 0 && c.z == 1);
    ck_assert(vec3_dot(a, b) == 0);
    ck_assert(vec3_length(vec3_add_scaled(vec3_scale(3, a), 4, b)) == 5);
    ck_assert(vec3_six_volumes(vec3_at(vertices, 0), a, b, vec3_at(vertices, 3)) == 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_helpers");
    TCase *cases = tcase_create("base_helpers");
    tcase_add_test(cases, text_grows);
    tcase_add_test(cases, file_is_read_whole);
    tcase_add_test(cases, file_without_memory);
    tcase_add_test(cases, file_that_cannot_be_read);
    tcase_add_test(cases, start_vector_is_the_same_everywhere);
    tcase_add_test(cases, vectors_of_three);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
