/* The broad phase on segments of fibres: how long building, refitting and searching take.
 *
 *     bench_broad_phase [SEGMENTS] [REPETITIONS]
 *
 * Segments hang side by side and sway, as those of hair do: 8 per fibre, 1 cm long, fibres 1 mm
 * apart. Compiled with Embree 3 (-DTWANG_WITH_EMBREE), the same boxes go through rtcCollide. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "contact/overlap_tree.h"

#ifdef TWANG_WITH_EMBREE
#include <embree3/rtcore.h>
#endif

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* The boxes at one moment: every fibre bends sideways with a phase of its own. */
static void fill_boxes(int64_t count, double moment, tw_box *boxes)
{
    const double spacing = 1e-3;
    const double length = 1e-2;
    int64_t side = (int64_t)ceil(sqrt((double)count / 8));
    for (int64_t i = 0; i < count; i++) {
        int64_t fibre = i / 8;
        int64_t row = fibre / side;
        boxes[i] = tw_box_empty();
        for (int end = 0; end < 2; end++) {
            double z = length * (double)(i % 8 + end);
            double sway = 0.3 * z * sin(moment + 0.37 * (double)(fibre % 17));
            double x[3] = {spacing * (double)(fibre % side) + sway,
                           spacing * (double)row + 0.5 * sway, -z};
            tw_box_add(&boxes[i], x, 2e-4);
        }
    }
}

static void time_tree(int64_t count, int repetitions, tw_box *boxes)
{
    tw_overlap_tree *tree = NULL;
    tw_box_pairs pairs = {0};
    double refitting = 0;
    double searching = 0;
    if (tw_overlap_tree_create(count, &tree) != TW_OK) exit(1);

    fill_boxes(count, 0, boxes);
    double begin = processor_seconds();
    tw_overlap_tree_update(tree, boxes);
    double building = processor_seconds() - begin;

    for (int r = 0; r < repetitions; r++) {
        fill_boxes(count, 0.05 * r, boxes);
        begin = processor_seconds();
        tw_overlap_tree_update(tree, boxes);
        double middle = processor_seconds();
        if (tw_overlap_tree_meet(tree, tree, &pairs) != TW_OK) exit(1);
        refitting += middle - begin;
        searching += processor_seconds() - middle;
    }
    printf(
        "own tree: %lld pairs, build %.1f ms, update %.1f ms, search %.1f ms, built %lld times\n",
        (long long)pairs.count, 1e3 * building, 1e3 * refitting / repetitions,
        1e3 * searching / repetitions, (long long)tw_overlap_tree_builds(tree));
    tw_box_pairs_free(&pairs);
    tw_overlap_tree_free(tree);
}

#ifdef TWANG_WITH_EMBREE
static int64_t embree_pairs;

static void embree_bounds(const struct RTCBoundsFunctionArguments *arguments)
{
    const tw_box *box = (const tw_box *)arguments->geometryUserPtr + arguments->primID;
    struct RTCBounds *b = arguments->bounds_o;
    b->lower_x = box->lower[0];
    b->lower_y = box->lower[1];
    b->lower_z = box->lower[2];
    b->upper_x = box->upper[0];
    b->upper_y = box->upper[1];
    b->upper_z = box->upper[2];
}

/* rtcCollide of a scene with itself reports overlapping leaves in both orders. */
static void embree_collide(void *context, struct RTCCollision *found, unsigned count)
{
    const tw_box *boxes = context;
    for (unsigned i = 0; i < count; i++)
        if (found[i].primID0 < found[i].primID1 &&
            tw_box_overlaps(&boxes[found[i].primID0], &boxes[found[i].primID1]))
            embree_pairs++;
}

static void time_embree(int64_t count, int repetitions, tw_box *boxes)
{
    RTCDevice device = rtcNewDevice("threads=1");
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_DYNAMIC);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(geometry, (unsigned)count);
    rtcSetGeometryUserData(geometry, boxes);
    rtcSetGeometryBoundsFunction(geometry, embree_bounds, NULL);
    rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_REFIT);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    double building = 0;
    double searching = 0;
    for (int r = 0; r < repetitions; r++) {
        fill_boxes(count, 0.05 * r, boxes);
        double begin = processor_seconds();
        rtcUpdateGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0);
        rtcCommitGeometry(geometry);
        rtcCommitScene(scene);
        double middle = processor_seconds();
        embree_pairs = 0;
        rtcCollide(scene, scene, embree_collide, boxes);
        building += middle - begin;
        searching += processor_seconds() - middle;
    }
    printf("Embree: %lld pairs, update %.1f ms, rtcCollide %.1f ms\n", (long long)embree_pairs,
           1e3 * building / repetitions, 1e3 * searching / repetitions);
    rtcReleaseGeometry(geometry);
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
}
#endif

int main(int argc, char **argv)
{
    int64_t count = argc > 1 ? atoll(argv[1]) : 100000;
    int repetitions = argc > 2 ? atoi(argv[2]) : 20;
    tw_box *boxes = malloc((size_t)count * sizeof *boxes);
    if (!boxes) return 1;
    for (int round = 0; round < 3; round++) {
        time_tree(count, repetitions, boxes);
#ifdef TWANG_WITH_EMBREE
        time_embree(count, repetitions, boxes);
#endif
    }
    free(boxes);
    return 0;
}
