/*
 * A request as it stands on a line of the control socket: one JSON object that
 * names a verb.
 *
 *     {"verb": "status"}
 */
#ifndef RUNNEL_MASTER_REQUEST_H
#define RUNNEL_MASTER_REQUEST_H

#include <jansson.h>
#include <stddef.h>

#include "base/status.h"

/* Bytes of a request, its newline included. */
#define REQUEST_MAX_BYTES (64u * 1024u)

/*
 * The object that a line, without its newline, is. On success *object is the caller's, and
 * *verb is borrowed from it. STATUS_INVALID: *why says what is wrong with it.
 */
enum status request_parse(const char *line, size_t len, json_t **object, const char **verb,
    struct reason *why) MUST_CHECK;

/*
 * Whether the object holds nothing beside its verb and these keys, which end with NULL; keys
 * NULL: none. STATUS_INVALID: *why names the key that is one too many.
 */
enum status request_check_keys(
    json_t *object, const char *const *keys, struct reason *why) MUST_CHECK;

#endif
