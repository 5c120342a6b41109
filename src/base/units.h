/*
 * Sizes and durations as an operator writes them.
 */
#ifndef RUNNEL_BASE_UNITS_H
#define RUNNEL_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define UNITS_TEXT_SIZE 32

/*
 * Plain decimal integer, with sign where it fits. Nothing may follow it.
 * STATUS_INVALID: not a number, or it does not fit.
 */
enum status units_parse_number(const char *text, int64_t *value) MUST_CHECK;

/* "4096", "64k", "1M", "2G" (powers of 1024; either case): bytes. */
enum status units_parse_size(const char *text, int64_t *bytes) MUST_CHECK;

/*
 * "250ms", "10s", "5m", "2h", "1d", or "0": milliseconds. A bare number other than 0 has no
 * unit and is refused.
 */
enum status units_parse_duration(const char *text, int64_t *ms) MUST_CHECK;

/* The shortest text that parses to the same value: 65536 -> "64k", 90000 -> "90s". Returns buf.
 */
const char *units_format_size(int64_t bytes, char buf[UNITS_TEXT_SIZE]);
const char *units_format_duration(int64_t ms, char buf[UNITS_TEXT_SIZE]);

/* How long ago, for people: "12s", "3m 12s", "2h 3m", "5d 2h". Returns buf. */
const char *units_format_age(int64_t ms, char buf[UNITS_TEXT_SIZE]);

#endif
