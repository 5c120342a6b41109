#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "settings/check_framing.h"
#include "settings/outline.h"
#include "settings/settings.h"

/* All borrowed. */
struct checker {
	const struct outline *outline;
	const struct outline_section *section; /* length-field */
	const struct length_field_settings *field;
	int64_t length_end, id_end; /* of the fields; id_end 0: there is no id */
	struct reason *why;
};

#define REFUSE(checker, key, ...) \
	outline_refuse(           \
	    (checker)->outline, (checker)->section, (key), (checker)->why, __VA_ARGS__)

static enum status check_sections(const struct outline *outline,
    const struct outline_section *place, const struct listen_settings *listener,
    struct reason *why)
{
	for (int kind = OPTION_FIRST_NESTED; kind < OPTION_N_SECTIONS; kind++) {
		const struct outline_section *section = outline_nested(outline, place, kind);
		const char *name = option_section_name(kind);

		if (section != NULL && strcmp(listener->framing, name) != 0)
			return outline_refuse(outline, section, NULL, why,
			    "framing is %s; remove this section, or set framing = %s",
			    listener->framing, name);
	}
	return STATUS_OK;
}

/* Options that say nothing are misunderstood. */
static enum status check_idle_keys(const struct checker *checker)
{
	const struct length_field_settings *field = checker->field;

	if (field->id_length > 0 && field->id != 0)
		return REFUSE(
		    checker, "id", "the id is in the frame; remove this, or set id-length = 0");
	if (field->id_length == 0 && field->id_offset != 0)
		return REFUSE(checker, "id-offset",
		    "there is no id in the frame; remove this, or set id-length");
	if (field->id_length == 0 && field->id_order != ID_ORDER_SAME)
		return REFUSE(checker, "id-order",
		    "there is no id in the frame; remove this, or set id-length");
	return STATUS_OK;
}

static enum status check_overlap(const struct checker *checker)
{
	const struct length_field_settings *field = checker->field;

	if (field->id_length > 0 && field->id_offset < checker->length_end &&
	    field->offset < checker->id_end)
		return REFUSE(checker, "id-offset",
		    "the id at %" PRIu32 " to %" PRId64 " overlaps the length at %" PRIu32
		    " to %" PRId64,
		    field->id_offset, checker->id_end - 1, field->offset,
		    checker->length_end - 1);
	return STATUS_OK;
}

/* The largest frame must reach what every frame has. */
static enum status check_reach(const struct checker *checker)
{
	const struct length_field_settings *field = checker->field;
	uint32_t size = settings_length_size(field->length);
	/* More than that is out of reach of all other options anyway. */
	int64_t most = size > 4 ? INT64_MAX / 2 : (INT64_C(1) << 8 * size) - 1;

	most += checker->length_end + field->adjustment;
	if (most < checker->length_end)
		return REFUSE(checker, "adjustment",
		    "the largest frame would end before its length does, at %" PRId64, most);
	if (most < field->strip)
		return REFUSE(
		    checker, "strip", "the largest frame has only %" PRId64 " bytes", most);
	if (most < checker->id_end)
		return REFUSE(checker, "id-offset",
		    "the largest frame has only %" PRId64 " bytes, and no id", most);
	return STATUS_OK;
}

/* The smallest frame must be one that is taken. */
static enum status check_limit(
    const struct checker *checker, const struct listen_settings *listener)
{
	const struct length_field_settings *field = checker->field;
	int64_t least = checker->length_end + field->adjustment;

	if (least < checker->length_end)
		least = checker->length_end;
	if (least < checker->id_end)
		least = checker->id_end;
	if (least - field->strip > listener->max_message)
		return REFUSE(checker, NULL,
		    "the smallest frame has a payload of %" PRId64 " bytes, and max-message is "
		    "%" PRIu32,
		    least - field->strip, listener->max_message);
	return STATUS_OK;
}

static enum status check_length_field(
    struct checker *checker, const struct listen_settings *listener)
{
	const struct length_field_settings *field = checker->field;

	checker->length_end = field->offset + (int64_t)settings_length_size(field->length);
	if (field->id_length > 0)
		checker->id_end = field->id_offset + (int64_t)field->id_length;
	if (check_idle_keys(checker) != STATUS_OK || check_overlap(checker) != STATUS_OK ||
	    check_reach(checker) != STATUS_OK || check_limit(checker, listener) != STATUS_OK)
		return STATUS_INVALID;
	return STATUS_OK;
}

enum status settings_check_framing(const struct outline *outline,
    const struct outline_section *place, const struct listen_settings *listener,
    struct reason *why)
{
	struct checker checker = {
		.outline = outline,
		.section = outline_nested(outline, place, OPTION_LENGTH_FIELD),
		.field = &listener->length_field,
		.why = why,
	};

	if (check_sections(outline, place, listener, why) != STATUS_OK)
		return STATUS_INVALID;
	return checker.section != NULL ? check_length_field(&checker, listener) : STATUS_OK;
}
