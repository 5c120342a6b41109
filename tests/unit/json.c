/*
 * A recursive descent over one flat object; it builds nothing.
 */
#include "config.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "json.h"

/* What is still to be read. */
struct input {
	const unsigned char *at, *end;
};

static bool take(struct input *in, int byte)
{
	if (in->at == in->end || *in->at != byte)
		return false;
	in->at++;
	return true;
}

/* A character beyond ASCII: decoded, and refused unless this is its one encoding. */
static bool take_utf8(struct input *in)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	int lead = *in->at, len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	uint32_t code = (uint32_t)lead & (0xffu >> (len + 1));

	if (lead < 0xc0 || lead >= 0xf8 || in->end - in->at < len)
		return false;
	for (int i = 1; i < len; i++) {
		if (in->at[i] >> 6 != 2)
			return false;
		code = code << 6 | (in->at[i] & 0x3fu);
	}
	in->at += len;
	return code >= least[len] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

static bool take_escape(struct input *in)
{
	if (in->at == in->end)
		return false;
	if (*in->at != 'u')
		return *in->at != '\0' && strchr("\"\\/bfnrt", *in->at++) != NULL;
	in->at++;
	for (int i = 0; i < 4; i++, in->at++) {
		if (in->at == in->end || !isxdigit(*in->at))
			return false;
	}
	return true;
}

static bool take_string(struct input *in)
{
	if (!take(in, '"'))
		return false;
	while (in->at < in->end && *in->at != '"') {
		if (*in->at < 0x20)
			return false;
		if (take(in, '\\')) {
			if (!take_escape(in))
				return false;
		} else if (*in->at < 0x80) {
			in->at++;
		} else if (!take_utf8(in)) {
			return false;
		}
	}
	return take(in, '"');
}

static bool take_number(struct input *in)
{
	const unsigned char *start;

	take(in, '-');
	start = in->at;
	while (in->at < in->end && isdigit(*in->at))
		in->at++;
	return in->at > start && (*start != '0' || in->at == start + 1);
}

bool json_is_flat_object(const char *text, size_t len)
{
	struct input in = { (const unsigned char *)text, (const unsigned char *)text + len };

	if (!take(&in, '{'))
		return false;
	do {
		if (!take_string(&in) || !take(&in, ':'))
			return false;
		if (in.at < in.end && *in.at == '"' ? !take_string(&in) : !take_number(&in))
			return false;
	} while (take(&in, ','));
	return take(&in, '}') && in.at == in.end;
}
