/* The broad phase against all pairs of boxes, over boxes that move. */
/* labels: threads */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "base/interrupt.h"
#include "contact/overlap_tree.h"
#include "support/run_suite.h"

/* Uniform in [0, 1), the same every time. */
static double random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Boxes of different sizes in the unit cube, moved along by `shift` times a velocity of their
 * own. */
static void fill(uint64_t seed, int64_t count, double size, double shift, tw_box *boxes)
{
    for (int64_t i = 0; i < count; i++) {
        double x[3];
        boxes[i] = tw_box_empty();
        for (int k = 0; k < 3; k++) x[k] = random_number(&seed);
        for (int k = 0; k < 3; k++) x[k] += shift * (random_number(&seed) - 0.5);
        tw_box_add(&boxes[i], x, size * random_number(&seed));
    }
}

/* Compares a list with all pairs, in the same order. */
static void compare(const tw_box_pairs *pairs, int64_t m, const tw_box *a, int64_t n,
                    const tw_box *b)
{
    int64_t found = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = a == b ? i + 1 : 0; j < n; j++) {
            bool overlap = true;
            for (int k = 0; k < 3; k++)
                overlap =
                    overlap && !(a[i].lower[k] > b[j].upper[k]) && !(b[j].lower[k] > a[i].upper[k]);
            if (!overlap) continue;
            ck_assert_int_lt(found, pairs->count);
            ck_assert_int_eq(pairs->list[found].first, i);
            ck_assert_int_eq(pairs->list[found].second, j);
            found++;
        }
    ck_assert_int_eq(found, pairs->count);
}

START_TEST(all_pairs_of_one_set_are_found)
{
    static const int64_t counts[] = {0, 1, 2, 7, 8, 9, 100, 1001};
    int64_t count = counts[_i];
    tw_box boxes[1001];
    tw_overlap_tree *tree = NULL;
    tw_box_pairs pairs = {0};
    ck_assert_int_eq(tw_overlap_tree_create(count, &tree), TW_OK);

    /* The tree is refitted while the boxes move a little, and built again when they moved far. */
    for (int step = 0; step < 20; step++) {
        fill(7, count, 0.05, 0.05 * step, boxes);
        tw_overlap_tree_update(tree, boxes);
        ck_assert_int_eq(tw_overlap_tree_meet(tree, tree, &pairs), TW_OK);
        compare(&pairs, count, boxes, count, boxes);
    }
    if (count == 1001) {
        ck_assert_int_gt(pairs.count, 100);
        ck_assert_int_ge(tw_overlap_tree_builds(tree), 2);
        ck_assert_int_lt(tw_overlap_tree_builds(tree), 10);
    }
    tw_box_pairs_free(&pairs);
    tw_overlap_tree_free(tree);
}
END_TEST

START_TEST(all_pairs_of_two_sets_are_found)
{
    enum { M = 700, N = 90 };
    tw_box a[M];
    tw_box b[N];
    tw_overlap_tree *trees[2] = {NULL, NULL};
    tw_box_pairs pairs = {0};
    fill(1, M, 0.05, 0, a);
    fill(2, N, 0.1, 0, b);
    ck_assert_int_eq(tw_overlap_tree_create(M, &trees[0]), TW_OK);
    ck_assert_int_eq(tw_overlap_tree_create(N, &trees[1]), TW_OK);
    tw_overlap_tree_update(trees[0], a);
    tw_overlap_tree_update(trees[1], b);

    ck_assert_int_eq(tw_overlap_tree_meet(trees[0], trees[1], &pairs), TW_OK);
    ck_assert_int_gt(pairs.count, 50);
    compare(&pairs, M, a, N, b);
    ck_assert_int_eq(tw_overlap_tree_meet(trees[1], trees[0], &pairs), TW_OK);
    compare(&pairs, N, b, M, a);

    tw_box_pairs_free(&pairs);
    for (int i = 0; i < 2; i++) tw_overlap_tree_free(trees[i]);
}
END_TEST

/* Equal boxes leave nothing to split by, and boxes without end are in everyone's way. */
START_TEST(equal_and_infinite_boxes_are_found)
{
    enum { COUNT = 50 };
    tw_box boxes[COUNT];
    const double origin[3] = {0, 0, 0};
    const double far[3] = {1e300, -1e300, 0};
    for (int i = 0; i < COUNT; i++) {
        boxes[i] = tw_box_empty();
        tw_box_add(&boxes[i], origin, 1);
    }
    tw_box_add(&boxes[3], far, 1);

    tw_overlap_tree *tree = NULL;
    tw_box_pairs pairs = {0};
    ck_assert_int_eq(tw_overlap_tree_create(COUNT, &tree), TW_OK);
    tw_overlap_tree_update(tree, boxes);
    ck_assert_int_eq(tw_overlap_tree_meet(tree, tree, &pairs), TW_OK);
    ck_assert_int_eq(pairs.count, COUNT * (COUNT - 1) / 2);
    tw_box_pairs_free(&pairs);
    tw_overlap_tree_free(tree);
}
END_TEST

/* A box holds its points though single precision does not know them. */
START_TEST(boxes_are_rounded_outward)
{
    uint64_t seed = 5;
    for (int i = 0; i < 1000; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = 1e3 * random_number(&seed) - 500;
        double margin = 1e-6 * random_number(&seed);
        tw_box box = tw_box_empty();
        tw_box_add(&box, x, margin);
        ck_assert(tw_box_holds(&box, x, margin));
        for (int k = 0; k < 3; k++) {
            ck_assert((double)box.lower[k] < x[k] - margin);
            ck_assert((double)box.upper[k] > x[k] + margin);
        }
    }
}
END_TEST

START_TEST(the_list_does_not_depend_on_the_threads)
{
    enum { COUNT = 20000 };
    tw_box *boxes = malloc(COUNT * sizeof *boxes);
    tw_box_pairs pairs[2] = {{0}, {0}};
    ck_assert_ptr_nonnull(boxes);
    fill(3, COUNT, 0.02, 0, boxes);
    for (int run = 0; run < 2; run++) {
        tw_set_threads(1 + 2 * run);
        tw_overlap_tree *tree = NULL;
        ck_assert_int_eq(tw_overlap_tree_create(COUNT, &tree), TW_OK);
        tw_overlap_tree_update(tree, boxes);
        ck_assert_int_eq(tw_overlap_tree_meet(tree, tree, &pairs[run]), TW_OK);
        tw_overlap_tree_free(tree);
    }
    ck_assert_int_eq(pairs[0].count, pairs[1].count);
    ck_assert_int_eq(
        memcmp(pairs[0].list, pairs[1].list, (size_t)pairs[0].count * sizeof *pairs[0].list), 0);
    for (int run = 0; run < 2; run++) tw_box_pairs_free(&pairs[run]);
    free(boxes);
}
END_TEST

/* Goes on `left` times, and then wants the end. */
static tw_status wants_end(void *context)
{
    int *left = context;
    return (*left)-- > 0 ? TW_OK : TW_INTERRUPTED;
}

START_TEST(a_search_can_be_interrupted)
{
    /* All boxes are the same: every box meets all others, and the lists of each are long. */
    enum { BOXES = 12000 };
    tw_box *same = malloc(BOXES * sizeof *same);
    for (int i = 0; i < BOXES; i++) same[i] = (tw_box){{0, 0, 0}, {i < 3000, 1, 1}};
    for (int i = 3000; i < BOXES; i++) same[i].lower[0] = same[i].upper[0] = (float)(2 * i);

    tw_overlap_tree *tree = NULL;
    tw_box_pairs pairs = {0};
    ck_assert_int_eq(tw_overlap_tree_create(BOXES, &tree), TW_OK);
    tw_overlap_tree_update(tree, same);
    int asked = 0;
    for (int patience = 0;; patience++) {
        int left = patience;
        tw_question before = tw_question_set((tw_question){wants_end, &left});
        tw_status status = tw_overlap_tree_meet(tree, tree, &pairs);
        tw_question_set(before);
        if (status == TW_OK) break;
        ck_assert_int_eq(status, TW_INTERRUPTED);
        ck_assert_int_eq(pairs.count, 0);
        asked++;
    }

    /* It was asked more than once, and the list is whole and in order. */
    ck_assert_int_ge(asked, 3);
    ck_assert_int_eq(pairs.count, (int64_t)3000 * 2999 / 2);
    int64_t wrong = 0;
    for (int64_t p = 0, first = 0, second = 1; p < pairs.count; p++) {
        wrong += pairs.list[p].first != first || pairs.list[p].second != second;
        if (++second == 3000) second = ++first + 1;
    }
    ck_assert_int_eq(wrong, 0);
    tw_box_pairs_free(&pairs);
    tw_overlap_tree_free(tree);
    free(same);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("broad phase");
    TCase *cases = tcase_create("boxes");
    tcase_add_loop_test(cases, all_pairs_of_one_set_are_found, 0, 8);
    tcase_add_test(cases, all_pairs_of_two_sets_are_found);
    tcase_add_test(cases, equal_and_infinite_boxes_are_found);
    tcase_add_test(cases, boxes_are_rounded_outward);
    tcase_add_test(cases, a_search_can_be_interrupted);
    tcase_add_test(cases, the_list_does_not_depend_on_the_threads);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
