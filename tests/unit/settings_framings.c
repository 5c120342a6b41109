/*
 * The sections that describe a listener's framing.
 */
#include "config.h"

#include "settings_offer.h"

/* A listener for each framing that has a section, with no option at its default. */
const char settings_of_framings[] =
    C10K "listen h { address = 127.0.0.1:1 modules = c10k framing = htlv-crc\n"
	 "  htlv-crc { head = 255 }\n}\n"
	 "listen l { address = 127.0.0.1:2 modules = c10k\n"
	 "  length-field { offset = 1024 length = 8 order = little adjustment = -65536\n"
	 "    strip = 2048 id-offset = 7 id-length = 3 id-order = big }\n"
	 "  framing = length-field\n}\n"
	 "listen f { address = 127.0.0.1:3 modules = c10k framing = length-field\n"
	 "  length-field { length = 1 id = 4294967295 adjustment = 65536 }\n"
	 "  max-message = 1M send-queue-bytes = 2M }\n"
	 "listen line { address = 127.0.0.1:4 modules = c10k framing = line\n"
	 "  line { id = 4294967295 terminator = crlf } }\n"
	 "listen own { address = 127.0.0.1:5 modules = c10k framing = my.own_1 }\n"
	 "connect h { address = 127.0.0.1:6 modules = c10k framing = line line { id = 7 } }\n"
	 "connect o { address = 127.0.0.1:7 modules = c10k framing = length-field\n"
	 "  length-field { length = 2 } }\n";

START_TEST(sections_of_framings_are_kept)
{
	struct settings *settings = load(settings_of_framings);
	const struct length_field_settings *field = &settings->listeners[1].length_field;

	ck_assert_uint_eq(settings->n_listeners, 5);
	ck_assert_str_eq(settings->listeners[0].framing, "htlv-crc");
	ck_assert_str_eq(settings->listeners[0].framing_place, "t.conf:2");
	ck_assert_uint_eq(settings->listeners[0].htlv_crc.head, 255);
	ck_assert_str_eq(settings->listeners[1].framing_place, "t.conf:8");
	ck_assert_uint_eq(field->offset, 1024);
	ck_assert_uint_eq(settings_length_size(field->length), 8);
	ck_assert_int_eq(field->order, ORDER_LITTLE);
	ck_assert_int_eq(field->adjustment, -65536);
	ck_assert_uint_eq(field->strip, 2048);
	ck_assert_uint_eq(field->id_offset, 7);
	ck_assert_uint_eq(field->id_length, 3);
	ck_assert_int_eq(field->id_order, ID_ORDER_BIG);
	ck_assert_uint_eq(settings_length_size(settings->listeners[2].length_field.length), 1);
	ck_assert_int_eq(settings->listeners[2].length_field.adjustment, 65536);
	ck_assert_uint_eq(settings->listeners[2].length_field.id, UINT32_MAX);
	ck_assert_uint_eq(settings->listeners[3].line.id, UINT32_MAX);
	ck_assert_int_eq(settings->listeners[3].line.terminator, TERMINATOR_CRLF);
	ck_assert_str_eq(settings->listeners[4].framing, "my.own_1");
	ck_assert_str_eq(settings->upstreams[0].common.framing, "line");
	ck_assert_str_eq(settings->upstreams[0].common.framing_place, "t.conf:16");
	ck_assert_uint_eq(settings->upstreams[0].common.line.id, 7);
	ck_assert_uint_eq(settings->upstreams[0].common.htlv_crc.head, 162);
	ck_assert_uint_eq(
	    settings_length_size(settings->upstreams[1].common.length_field.length), 2);
	settings_destroy(&settings);
}
END_TEST

#define LISTENER(option) C10K "listen a { address = 127.0.0.1:1 modules = c10k\n" option " }"
#define IN_LISTENER "t.conf:3: listen 'a': "

/* The listener has the same name, and a framing of its own. */
#define UPSTREAM(option)                                                                   \
	C10K "listen a { address = 127.0.0.1:1 modules = c10k framing = line line { } }\n" \
	     "connect a { address = 127.0.0.1:2 modules = c10k\n" option " }"
#define IN_UPSTREAM "t.conf:4: connect 'a': "

/* A listener's framing is wrong, or what describes it. */
#define IN_LENGTH_FIELD "t.conf:4: listen 'a': length-field: "
#define LENGTH_FIELD(options) LISTENER("framing = length-field length-field {\n" options "\n}")

/* A conf, and how the reason for its refusal begins. */
static const struct {
	const char *conf;
	const char *reason;
} bad_framings[] = {
	{ LISTENER("htlv-crc { head = 256 }"),
	    IN_LISTENER "htlv-crc: head: '256' is refused; give a number from 0 to 255" },
	{ LISTENER("line { colour = red }"), IN_LISTENER "line: colour: no such option" },
	{ LISTENER("line { framing = line }"),
	    IN_LISTENER "line: framing: no such option here; it belongs in a listen section" },
	{ LISTENER("line { terminator = cr }"),
	    IN_LISTENER "line: terminator: 'cr' is refused; give lf or crlf" },
	{ LISTENER("line { id = 4294967296 }"),
	    IN_LISTENER "line: id: '4294967296' is refused; give a number from 0 to "
			"4294967295" },
	{ LISTENER("line { }"),
	    IN_LISTENER "line: framing is tlv; remove this section, or set framing = line" },
	{ LISTENER("framing = line length-field { }"),
	    IN_LISTENER "length-field: framing is line; remove this section, or set framing = "
			"length-field" },
	{ UPSTREAM("line { }"), IN_UPSTREAM "line: framing is tlv; remove this section, or set "
					    "framing = line" },
	{ UPSTREAM("framing = length-field length-field { strip = -1 }"),
	    IN_UPSTREAM "length-field: strip: '-1' is refused; give a number from 0 to 2048" },
	{ UPSTREAM("framing = length-field length-field { id-offset = 6 }"), IN_UPSTREAM
	    "length-field: id-offset: there is no id in the frame; remove this, or set "
	    "id-length" },
	{ UPSTREAM("framing = line line { } line { }"),
	    IN_UPSTREAM "line: there is one in line 4 already" },
	{ LISTENER("framing = own htlv-crc { }"), IN_LISTENER
	    "htlv-crc: framing is own; remove this section, or set framing = htlv-crc" },
	{ LENGTH_FIELD("offset = 1025"),
	    IN_LENGTH_FIELD "offset: '1025' is refused; give a number from 0 to 1024" },
	{ LENGTH_FIELD("length = 5"),
	    IN_LENGTH_FIELD "length: '5' is refused; give 1, 2, 3, 4 or 8" },
	{ LENGTH_FIELD("length = 0"),
	    IN_LENGTH_FIELD "length: '0' is refused; give 1, 2, 3, 4 or 8" },
	{ LENGTH_FIELD("order = middle"),
	    IN_LENGTH_FIELD "order: 'middle' is refused; give big or little" },
	{ LENGTH_FIELD("adjustment = -65537"), IN_LENGTH_FIELD
	    "adjustment: '-65537' is refused; give a number from -65536 to 65536" },
	{ LENGTH_FIELD("strip = -1"),
	    IN_LENGTH_FIELD "strip: '-1' is refused; give a number from 0 to 2048" },
	{ LENGTH_FIELD("id-length = 5"),
	    IN_LENGTH_FIELD "id-length: '5' is refused; give a number from 0 to 4" },
	{ LENGTH_FIELD("id-length = 2 id-offset = 6 id = 1"),
	    IN_LENGTH_FIELD "id: the id is in the frame; remove this, or set id-length = 0" },
	{ LENGTH_FIELD("id-offset = 6"), IN_LENGTH_FIELD
	    "id-offset: there is no id in the frame; remove this, or set id-length" },
	{ LENGTH_FIELD("id-order = big"), IN_LENGTH_FIELD
	    "id-order: there is no id in the frame; remove this, or set id-length" },
	{ LENGTH_FIELD("offset = 2 id-length = 4"), IN_LISTENER
	    "length-field: id-offset: the id at 0 to 3 overlaps the length at 2 to 5" },
	{ LENGTH_FIELD("offset = 2 id-length = 1 id-offset = 5"),
	    IN_LENGTH_FIELD "id-offset: the id at 5 to 5 overlaps the length at 2 to 5" },
	{ LENGTH_FIELD("length = 1 adjustment = -256"), IN_LENGTH_FIELD
	    "adjustment: the largest frame would end before its length does, at 0" },
	{ LENGTH_FIELD("length = 1 strip = 257"),
	    IN_LENGTH_FIELD "strip: the largest frame has only 256 bytes" },
	{ LENGTH_FIELD("length = 1 id-offset = 255 id-length = 2"),
	    IN_LENGTH_FIELD "id-offset: the largest frame has only 256 bytes, and no id" },
	{ LENGTH_FIELD("adjustment = 4097 strip = 4"),
	    "t.conf:3: listen 'a': length-field: the smallest frame has a payload of 4097 "
	    "bytes, and max-message is 4096" },
	{ LISTENER("max-message = 3 framing = length-field length-field { }"),
	    IN_LISTENER "length-field: the smallest frame has a payload of 4 bytes, and "
			"max-message is 3" },
};

/* What is just in order. */
static const char *const good_framings[] = {
	LENGTH_FIELD("length = 1 adjustment = -255"),
	LENGTH_FIELD("length = 1 strip = 256"),
	LENGTH_FIELD("length = 1 id-offset = 254 id-length = 2"),
	LENGTH_FIELD("offset = 2 id-length = 2"),
	LENGTH_FIELD("offset = 2 id-length = 1 id-offset = 6"),
	LENGTH_FIELD("adjustment = 4096 strip = 4"),
	LISTENER("max-message = 4 framing = length-field length-field { }"),
	LISTENER("framing = length-field"),
	LISTENER("framing = htlv-crc"),
	LISTENER("framing = line line { }"),
};

START_TEST(contradiction_is_refused)
{
	refuse(bad_framings[_i].conf, bad_framings[_i].reason);
}
END_TEST

START_TEST(what_is_just_in_order_is_taken)
{
	struct settings *settings = load(good_framings[_i]);

	settings_destroy(&settings);
}
END_TEST

TCase *settings_framings_case(void)
{
	TCase *framings = tcase_create("framings");

	tcase_add_test(framings, sections_of_framings_are_kept);
	tcase_add_loop_test(framings, contradiction_is_refused, 0, N_OF(bad_framings));
	tcase_add_loop_test(framings, what_is_just_in_order_is_taken, 0, N_OF(good_framings));
	return framings;
}
