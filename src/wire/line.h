/*
 * Lines of text: a payload ended by LF or by CR LF. The message's id is not on the
 * wire.
 *
 * A CR is part of the end only right before the LF. A payload has any other byte.
 */
#ifndef RUNNEL_WIRE_LINE_H
#define RUNNEL_WIRE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/framing.h"

struct line {
	struct framing framing; /* first */
	uint32_t id;            /* of all that is received; what is sent may have any */
	bool is_crlf;           /* lines that are sent end with CR LF, not LF */
};

void line_init(struct line *line, uint32_t id, bool is_crlf);

#endif
