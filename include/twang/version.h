/** @file version.h
 *  Version of the headers and of the linked library, and the export macro.
 */
#ifndef TWANG_VERSION_H
#define TWANG_VERSION_H

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 2
#define TW_VERSION_PATCH 0
#define TW_VERSION       "0.2.0"

#if defined(TW_STATIC) || !defined(__GNUC__)
#define TW_API
#else
#define TW_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the linked library, "major.minor.patch"; static storage. */
TW_API const char *tw_version(void);

#ifdef __cplusplus
}
#endif
#endif
