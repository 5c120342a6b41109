/*
 * What the module meter does on a message; it replies with what it got.
 */
#ifndef TESTS_SYSTEM_MODULES_METER_H
#define TESTS_SYSTEM_MODULES_METER_H

#define METER_COUNT 1    /* adds the length of the payload to bytes_total */
#define METER_SET 2      /* level is the first byte of it */
#define METER_ADD 3      /* less that of the second */
#define METER_THREAD 4   /* counts in a thread, where it may not */
#define METER_SCRIBBLE 5 /* fills all memory that it shares, and crashes */

#endif
