/*
 * What the fuzz sources of framings share: any bytes go through a decoder, frame after
 * frame, and what must hold is what wire/framing.h says: no read beyond the input, and the
 * same frames however it is cut.
 */
#ifndef RUNNEL_TESTS_FUZZ_FRAMING_H
#define RUNNEL_TESTS_FUZZ_FRAMING_H

#include <stddef.h>
#include <stdint.h>

#include "wire/framing.h"

/* Each prefix of a frame is decoded, so the work grows with the square of its length. */
#define FUZZ_MAX_INPUT 2048

/* What must hold for a whole frame, which stands at in. */
typedef void fuzz_frame_f(
    const struct framing *framing, const uint8_t *in, const struct frame *frame);

/* Up to FUZZ_MAX_INPUT bytes, under a few limits. */
void fuzz_framing(
    const struct framing *framing, const uint8_t *data, size_t size, fuzz_frame_f *check);

/* A fuzz_frame_f: the message encodes to the bytes of the frame. */
fuzz_frame_f fuzz_encodes_to_itself;

/* A fuzz_frame_f: the message encodes to a frame of the same message, or to none. */
fuzz_frame_f fuzz_encodes_to_its_like;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
