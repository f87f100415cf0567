/* Texts of statuses, and filling of errors. */
#include <stdarg.h>

#include "base/fail.h"
#include "base/number.h"

const char *tw_version(void)
{
    return TW_VERSION;
}

const char *tw_status_text(tw_status status)
{
#define TEXT_CASE(name, text)                                                                      \
    case name:                                                                                     \
        return text;
    switch (status) {
        TW_STATUS_LIST(TEXT_CASE)
    case TW_STATUS_COUNT:
        break;
    }
#undef TEXT_CASE
    return "unknown status";
}

const char *tw_status_name(tw_status status)
{
#define NAME_CASE(name, text)                                                                      \
    case name:                                                                                     \
        return #name;
    switch (status) {
        TW_STATUS_LIST(NAME_CASE)
    case TW_STATUS_COUNT:
        break;
    }
#undef NAME_CASE
    return "TW_UNKNOWN";
}

tw_status tw_fail(tw_error *error, tw_status status, const char *format, ...)
{
    if (!error) return status;

    error->status = status;
    char text[TW_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tw_format(text, sizeof text, format, arguments);
    va_end(arguments);

    /* Names and texts of the input may hold anything. */
    tw_printable(error->text, sizeof error->text, text);
    return status;
}

tw_status tw_fail_plain(tw_error *error, tw_status status)
{
    return tw_fail(error, status, "%s", tw_status_text(status));
}
