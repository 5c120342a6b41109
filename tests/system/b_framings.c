/*
 * Each framing, from a client's bytes to a module and back, and framings that modules
 * supply. What tlv and ltv do is in a_wire.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/run.h"

#define FRAMER "module framer { path = \"" TEST_MODULES "/framer.so\" }\n"
#define LISTEN(name, options) \
	"listen " name " { address = \"127.0.0.1:0\" modules = { framer } " options " }\n"
#define MAIN(options) LISTEN("main", options)

#define ADD(bytes, text) bytes_add((bytes), (text), sizeof(text) - 1)

/* Two frames of zinx's example client. */
#define ZINX_0X10                                              \
	"\xa2\x10\x18\x68\x65\x74\0\0\x04\xd3\0\0\0\0\0\0\0\0" \
	"\0\0\0\0\0\0\0\0\0\xe7\xa2"
#define ZINX_0X13 "\xa2\x13\x0e\x68\x65\x74\0\0\x04\xd3\0\0\0\1\0\0\0\x40\xc3"

static struct daemon *start(unsigned n_workers, const char *listeners)
{
	struct daemon *daemon = daemon_new(n_workers, FRAMER "%s", listeners);

	daemon_start(daemon);
	return daemon;
}

static int connect_main(struct daemon *daemon)
{
	return client_connect(daemon_port(daemon, "main"));
}

/* The reply is the same wherever the request is cut. */
static void expect_at_every_cut(
    struct daemon *daemon, const struct bytes *request, const struct bytes *reply)
{
	int fd = connect_main(daemon);

	for (size_t cut = 1; cut < request->len; cut++) {
		client_send(fd, request->data, cut);
		client_await_read(fd);
		client_send(fd, request->data + cut, request->len - cut);
		client_expect(fd, reply);
	}
	close(fd);
}

static void say(int fd, const char *bytes, size_t len)
{
	client_send(fd, bytes, len);
}

static void expect(int fd, const char *bytes, size_t len)
{
	struct bytes expected = { 0 };

	bytes_add(&expected, bytes, len);
	client_expect(fd, &expected);
	bytes_free(&expected);
}

#define SAY(fd, text) say((fd), (text), sizeof(text) - 1)
#define EXPECT(fd, text) expect((fd), (text), sizeof(text) - 1)

/* --- htlv-crc --- */

START_TEST(htlv_crc_frames_of_zinx_are_echoed)
{
	struct daemon *daemon = start(run_workers(_i), MAIN("framing = htlv-crc"));
	struct bytes stream = { 0 };

	ADD(&stream, ZINX_0X10);
	ADD(&stream, ZINX_0X13);
	ADD(&stream, ZINX_0X10);
	expect_at_every_cut(daemon, &stream, &stream);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(htlv_crc_replies_have_the_head_of_the_conf)
{
	struct daemon *daemon = start(1, MAIN("framing = htlv-crc htlv-crc { head = 0 }"));
	int fd = connect_main(daemon);

	SAY(fd, "\xa2\x01\0\xd1\xb2");
	EXPECT(fd, "\0\x01\0\x70\x50");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(wrong_checksum_closes_after_the_replies_before_it)
{
	struct daemon *daemon = start(run_workers(_i), MAIN("framing = htlv-crc"));
	int fd = connect_main(daemon);

	SAY(fd, ZINX_0X10 "\xa2\x01\0\xd1\xb3" ZINX_0X13);
	EXPECT(fd, ZINX_0X10);
	client_expect_eof(fd);
	close(fd);
	ck_assert(daemon_has_logged(
	    daemon, "closed: a message with a wrong checksum (id 1, length 0, "));
	daemon_end(daemon);
	daemon_expect_counter(daemon, "bad_checksums", 1);
	daemon_expect_counter(daemon, "frames_in", 1);
	daemon_expect_counter(daemon, "closed_protocol", 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(wrong_checksum_is_skipped_where_the_conf_says_so)
{
	struct daemon *daemon =
	    start(run_workers(_i), MAIN("framing = htlv-crc bad-checksum = skip"));
	struct bytes request = { 0 }, reply = { 0 };
	unsigned n_cuts;

	ADD(&request, "\xa2\x01\0\xd1\xb3" ZINX_0X10 "\xa2\x01\0\xd1\xb3" ZINX_0X13);
	ADD(&reply, ZINX_0X10 ZINX_0X13);
	expect_at_every_cut(daemon, &request, &reply);
	n_cuts = (unsigned)request.len - 1;
	ck_assert(daemon_has_logged(daemon, "skipped: a message with a wrong checksum"));
	daemon_end(daemon);
	daemon_expect_counter(daemon, "bad_checksums", 2 * n_cuts);
	daemon_expect_counter(daemon, "frames_in", 2 * n_cuts);
	daemon_expect_counter(daemon, "closed_protocol", 0);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_destroy(&daemon);
}
END_TEST

/* More of them than are served in a turn: what comes behind them is reached all the same. */
START_TEST(many_skipped_frames_do_not_stop_the_rest)
{
	struct daemon *daemon = start(1, MAIN("framing = htlv-crc bad-checksum = skip"));
	struct bytes request = { 0 };
	int fd = connect_main(daemon);

	for (int i = 0; i < 1000; i++)
		ADD(&request, "\xa2\x01\0\xd1\xb3");
	ADD(&request, ZINX_0X13);
	client_send(fd, request.data, request.len);
	EXPECT(fd, ZINX_0X13);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "bad_checksums", 1000);
	bytes_free(&request);
	daemon_destroy(&daemon);
}
END_TEST

/* --- length-field --- */

/* A magic byte, the length of all, an id, and what is left: the last example of Netty. */
#define NETTY                                                                                  \
	"framing = length-field length-field { offset = 1 length = 2 adjustment = -3 strip = " \
	"4 "                                                                                   \
	"id-offset = 3 id-length = 1 }"

START_TEST(length_field_frames_are_echoed)
{
	struct daemon *daemon = start(run_workers(_i), MAIN(NETTY));
	struct bytes request = { 0 }, reply = { 0 };

	ADD(&request, "\xca\0\x10\xfeHELLO, WORLD\xca\0\4\1\0\0\5\2!");
	ADD(&reply, "\0\0\x10\xfeHELLO, WORLD\0\0\4\1\0\0\5\2!");
	request.data[request.len - 1] = reply.data[reply.len - 1] = '.';
	expect_at_every_cut(daemon, &request, &reply);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(length_field_that_is_not_stripped_is_in_the_payload)
{
	struct daemon *daemon = start(1, MAIN("framing = length-field length-field { "
					      "length = 2 order = little id = 1000000 }"));
	int fd = connect_main(daemon);

	SAY(fd, "\5\0hello\0\0\1\0.");
	EXPECT(fd, "\5\0hello\0\0\1\0.");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* A connection of another framing is told the id. */
START_TEST(messages_without_an_id_have_the_one_of_the_conf)
{
	struct daemon *daemon = start(1,
	    MAIN("framing = length-field length-field { length = 2 strip = 2 id = 258 }")
		LISTEN("tlv", ""));
	int fd = connect_main(daemon), told = client_connect(daemon_port(daemon, "tlv"));

	SAY(told, "\0\0\0\0\0\0\0\1.");
	EXPECT(told, "\0\0\0\0\0\0\0\1.");
	SAY(fd, "\0\2!x");
	EXPECT(fd, "\0\1x");
	EXPECT(told, "\0\0\1\2\0\0\0\1x");
	close(fd);
	close(told);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(length_within_its_header_closes)
{
	struct daemon *daemon = start(1, MAIN(NETTY));
	int fd = connect_main(daemon);

	SAY(fd, "\xca\0\4\1\xca\0\3");
	EXPECT(fd, "\0\0\4\1");
	client_expect_eof(fd);
	close(fd);
	ck_assert(
	    daemon_has_logged(daemon, "closed: framing length-field: the length of a frame "
				      "is less than that of its header"));
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_protocol", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* A length of 4 or of 8 bytes, all of them 0xff. */
START_TEST(greatest_length_closes)
{
	struct daemon *daemon = start(
	    1, _i == 4
		   ? MAIN("framing = length-field length-field { strip = 4 }")
		   : MAIN("framing = length-field length-field { length = 8 adjustment = 9 }"));
	int fd = connect_main(daemon);

	say(fd, "\xff\xff\xff\xff\xff\xff\xff\xff.................", _i == 4 ? 4 : 17);
	client_expect_eof(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "oversize", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* --- line --- */

START_TEST(lines_are_echoed)
{
	struct daemon *daemon = start(run_workers(_i), MAIN("framing = line"));
	struct bytes request = { 0 }, reply = { 0 };

	ADD(&request, "hello\r\nworld\n\n\r\nlast\r\n");
	ADD(&reply, "hello\nworld\n\n\nlast\n");
	expect_at_every_cut(daemon, &request, &reply);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(lines_end_with_the_terminator_of_the_conf)
{
	struct daemon *daemon =
	    start(1, MAIN("framing = line line { terminator = crlf id = 9 }"));
	int fd = connect_main(daemon);

	SAY(fd, "hello\nworld\r\n");
	EXPECT(fd, "hello\r\nworld\r\n");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(line_beyond_max_message_closes)
{
	struct daemon *daemon = start(1, MAIN("framing = line max-message = 10"));
	int fd = connect_main(daemon);

	SAY(fd, "0123456789\r\n0123456789a");
	EXPECT(fd, "0123456789\n");
	client_expect_eof(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "oversize", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* By each way to send: RNL_EINVAL, nothing on the wire, and the connection goes on. */
START_TEST(line_that_has_a_line_end_is_refused_to_the_sender)
{
	struct daemon *daemon = start(1, MAIN("framing = line line { id = 7 }"));
	int fd = connect_main(daemon);

	SAY(fd, "before\n\\\nafter\n");
	EXPECT(fd, "before\n-5 -5 -5\nafter\n");
	/* An id that a line does not have is no reason. */
	SAY(fd, "^\n");
	EXPECT(fd, "one\none\none\n0 0 0\n");
	ck_assert(daemon_has_logged(
	    daemon, "send refused, framing line has no frame for it (id 7, length 7)"));
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_out", 7);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(id_that_a_frame_cannot_say_is_refused_to_the_sender)
{
	struct daemon *daemon = start(1, MAIN(NETTY));
	int fd = connect_main(daemon);

	SAY(fd, "\0\0\5\1^");
	EXPECT(fd, "\0\0\x0c\1-5 -5 -5");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* --- a reload --- */

/* The module echo can save and restore its connections. */
#define ECHO_LINES(options)                                                                    \
	"module echo { }\nlisten main { address = \"127.0.0.1:0\" modules = { echo } framing " \
	"= "                                                                                   \
	"line line { " options " } }\n"

/* A client that has sent half a line meets a reload, with these options of line after it. */
static int meet_reload(struct daemon *daemon, const char *conf)
{
	char text[2048];
	int fd;

	daemon_start(daemon);
	fd = connect_main(daemon);
	SAY(fd, "first\nhel");
	EXPECT(fd, "first\n");
	client_await_read(fd);
	snprintf(text, sizeof(text), "workers = 1\nmodule-dir = \"%s\"\nlog = \"%s\"\n%s",
	    OUR_MODULES, daemon->log, conf);
	daemon_set_conf(daemon, text);
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(daemon_has_logged(daemon, "has ended"));
	return fd;
}

START_TEST(half_a_line_outlives_a_reload)
{
	struct daemon *daemon = daemon_new(1, ECHO_LINES("id = 1"));
	int fd = meet_reload(daemon, ECHO_LINES("id = 1"));

	SAY(fd, "lo\n");
	EXPECT(fd, "hello\n");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_in", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* Its client speaks what the old conf says. */
START_TEST(connection_of_other_parameters_does_not_move)
{
	struct daemon *daemon = daemon_new(1, ECHO_LINES("id = 1"));
	int fd = meet_reload(daemon, ECHO_LINES("id = 1 terminator = crlf"));

	client_expect_end(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_in", 0);
	daemon_expect_counter(daemon, "accepted", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* --- several at once --- */

START_TEST(one_message_reaches_connections_of_all_framings)
{
	struct daemon *daemon = start(1,
	    MAIN("framing = line") LISTEN("tlv", "") LISTEN("crc", "framing = htlv-crc")
		LISTEN("crlf", "framing = line line { terminator = crlf }")
		    LISTEN("field", NETTY) LISTEN("stx", "framing = stx"));
	static const char *const names[] = { "tlv", "crc", "crlf", "field", "stx" };
	int fds[5], fd = connect_main(daemon);

	for (int i = 0; i < 5; i++)
		fds[i] = client_connect(daemon_port(daemon, names[i]));
	/* All are open once each has had a reply. */
	SAY(fds[0], "\0\0\0\1\0\0\0\1.");
	EXPECT(fds[0], "\0\0\0\1\0\0\0\1.");
	SAY(fds[1], "\xa2\x01\0\xd1\xb2");
	EXPECT(fds[1], "\xa2\x01\0\xd1\xb2");
	SAY(fds[2], ".\n");
	EXPECT(fds[2], ".\r\n");
	SAY(fds[3], "\0\0\4\1");
	EXPECT(fds[3], "\0\0\4\1");
	SAY(fds[4], "\2\1\0\0\3");
	EXPECT(fds[4], "\2\1\0\0\3");
	for (int round = 0; round < 3; round++) {
		SAY(fd, "!x\n");
		EXPECT(fd, "x\n");
		EXPECT(fds[0], "\0\0\0\0\0\0\0\1x");
		EXPECT(fds[1], "\xa2\0\1x\x22\x2e");
		EXPECT(fds[2], "x\r\n");
		EXPECT(fds[3], "\0\0\5\0x");
		EXPECT(fds[4], "\2\0\1\x22\x22\3");
	}
	close(fd);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	daemon_stop(&daemon);
}
END_TEST

/* --- framings of modules --- */

static void add_stx(struct bytes *stream, uint8_t id, const char *payload, size_t len)
{
	uint8_t sum = 0, byte;
	size_t left = len;

	bytes_add(stream, "\2", 1);
	bytes_add(stream, &id, 1);
	do {
		byte = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
		bytes_add(stream, &byte, 1);
		left >>= 7;
	} while (left > 0);
	for (size_t i = 0; i < len; i++) {
		byte = (uint8_t)payload[i] ^ 0x5a;
		sum ^= byte;
		bytes_add(stream, &byte, 1);
	}
	bytes_add(stream, &sum, 1);
	bytes_add(stream, "\3", 1);
}

/* Masked, with a length of one or two bytes. */
START_TEST(framing_of_a_module_is_echoed)
{
	struct daemon *daemon = start(run_workers(_i), MAIN("framing = stx"));
	struct bytes stream = { 0 };
	char text[200];

	memset(text, 'x', sizeof(text));
	add_stx(&stream, 1, "hello", 5);
	add_stx(&stream, 255, NULL, 0);
	add_stx(&stream, 3, text, 127);
	add_stx(&stream, 4, text, 128);
	expect_at_every_cut(daemon, &stream, &stream);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(framing_of_a_module_has_the_longest_payload)
{
	struct daemon *daemon = start(1, MAIN("framing = stx max-message = 20k"));
	struct bytes stream = { 0 };
	static char text[20 * 1024 + 1];
	int fd = connect_main(daemon);

	memset(text, 'x', sizeof(text));
	add_stx(&stream, 1, text, 16383);
	add_stx(&stream, 1, text, 16384);
	add_stx(&stream, 1, text, sizeof(text) - 1);
	client_exchange(fd, &stream, &stream);
	stream.len = 0;
	add_stx(&stream, 1, text, sizeof(text));
	client_send(fd, stream.data, 5);
	client_expect_eof(fd);
	close(fd);
	bytes_free(&stream);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "oversize", 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(framing_of_a_module_may_refuse)
{
	struct daemon *daemon = start(1, MAIN("framing = stx"));
	struct bytes request = { 0 }, reply = { 0 };
	int fd = connect_main(daemon);

	add_stx(&request, 1, "^", 1);
	add_stx(&reply, 1, "-5 -5 -5", 8);
	client_exchange(fd, &request, &reply);
	SAY(fd, "\1");
	client_expect_eof(fd);
	ck_assert(daemon_has_logged(daemon, "closed: framing stx: no STX"));
	close(fd);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(framing_of_a_module_may_have_a_checksum)
{
	struct daemon *daemon = start(1, MAIN("framing = stx bad-checksum = skip"));
	int fd = connect_main(daemon);

	SAY(fd, "\2\1\1\x20\x21\3\2\1\1\x20\x20\3");
	EXPECT(fd, "\2\1\1\x20\x20\3");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "bad_checksums", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* What the module's decoder is asked, and how its answer is called. */
static const struct {
	const char *input, *why;
} lies[] = {
	{ "a", "a frame of 0 bytes in 1 bytes" },
	{ "b", "a frame of 2 bytes in 1 bytes" },
	{ "bcd", "a frame of 4 bytes in 3 bytes" },
	{ "c", "a payload of 1 bytes that is not in its frame" },
	{ "d", "a payload of 1 bytes that is not in its frame" },
	{ "dd", "a payload of 1 bytes that is not in its frame" },
	{ "e", "a payload of 1 bytes that is not in its frame" },
	{ "f", "a payload of 2 bytes that is not in its frame" },
	{ "ff", "a payload of 2 bytes that is not in its frame" },
	{ "g", "a payload of 18446744073709551615 bytes that is not in its frame" },
	{ "h", "it answers 77" },
	{ "k", "a corrupt frame of 0 bytes in 1 bytes" },
	{ "l", "a corrupt frame of 18446744073709551615 bytes in 1 bytes" },
	{ "i1234567890", "11 bytes are not enough for a frame" },
};

START_TEST(framing_that_answers_wrongly_ends_the_connection_only)
{
	struct daemon *daemon = start(1, MAIN("framing = liar max-message = 10 bad-checksum = "
					      "skip"));
	int bystander = connect_main(daemon), fd = connect_main(daemon);

	SAY(fd, ".");
	EXPECT(fd, ".");
	say(fd, lies[_i].input, strlen(lies[_i].input));
	client_expect_eof(fd);
	close(fd);
	ck_assert(daemon_has_logged(
	    daemon, "closed: framing liar: module 'framer' decodes wrongly: "));
	ck_assert_msg(daemon_has_logged(daemon, lies[_i].why), "no '%s'", lies[_i].why);
	SAY(bystander, ".");
	EXPECT(bystander, ".");
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 1);
	close(bystander);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_protocol", 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(framing_may_be_bad_without_a_reason)
{
	struct daemon *daemon = start(1, MAIN("framing = liar"));
	int fd = connect_main(daemon);

	SAY(fd, "j");
	client_expect_eof(fd);
	close(fd);
	ck_assert(daemon_has_logged(daemon, "closed: framing liar: it does not say why"));
	daemon_stop(&daemon);
}
END_TEST

/* The handler echoes "0", which the framing encodes to more than it may. */
START_TEST(framing_that_encodes_too_much_sends_nothing)
{
	struct daemon *daemon = start(1, MAIN("framing = liar"));
	int fd = connect_main(daemon);

	SAY(fd, "09.");
	EXPECT(fd, ".");
	close(fd);
	ck_assert(daemon_has_logged(daemon,
	    "module 'framer': framing 'liar': it encodes 1 bytes as 2, and there was room for "
	    "1"));
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_out", 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(bad_framings_are_refused_to_the_module)
{
	struct daemon *daemon =
	    daemon_new(1, "module framer { path = \"" TEST_MODULES
			  "/framer.so\" try-bad = true }\n" MAIN("framing = stx"));

	daemon_start(daemon);
	ck_assert(daemon_has_logged(daemon, "module 'framer': a framing without its size"));
	ck_assert(daemon_has_logged(
	    daemon, "module 'framer': framing 'length-field': runneld has one of that name"));
	ck_assert(daemon_has_logged(
	    daemon, "module 'framer': framing 'stx': the module has added it already"));
	daemon_stop(&daemon);
}
END_TEST

/* A conf whose framing is none, and what the refusal says beside the place. */
static const struct {
	const char *text, *words[3];
} bad_confs[] = {
	{ FRAMER "\n" MAIN("framing = morse"),
	    { ":6: listen 'main': framing: 'morse' is refused", "length-field, line",
		"a module of the section" } },
	{ FRAMER
	    "module echo { }\nlisten main { address = \"127.0.0.1:0\"\nmodules = { echo }\n"
	    "framing = stx }\n",
	    { ":8: listen 'main': framing: 'stx' is of module 'framer'",
		"not among the section's modules" } },
	{ FRAMER MAIN(
	      "framing = length-field send-queue-bytes = 4160 length-field { strip = 100 "
	      "}"),
	    { ":5: listen 'main': send-queue-bytes: 4160 hold no message of max-message bytes "
	      "in "
	      "framing length-field; give at least 42" } },
};

/* A second module that has the same one is a second file. */
START_TEST(framing_of_two_modules_is_refused)
{
	struct daemon *daemon = daemon_new(1, "%s", "");
	char text[1024], command[512];

	snprintf(command, sizeof(command), "cp %s/framer.so %s/other.so", TEST_MODULES,
	    daemon->folder);
	ck_assert_int_eq(system(command), 0);
	snprintf(text, sizeof(text),
	    "module-dir = \"%s\"\nmodule other { serve = false }\n" FRAMER
	    "listen one { address = \"127.0.0.1:0\" modules = { other } framing = stx }\n"
	    "listen two { address = \"127.0.0.1:0\" modules = { framer, other }\n"
	    "framing = stx }\n",
	    daemon->folder);
	daemon_set_conf(daemon, text);
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	ck_assert_msg(strstr(daemon_read(daemon, daemon->err),
			  ":6: listen 'two': framing: module 'framer' and module 'other' both "
			  "supply 'stx'") != NULL,
	    "%s", daemon->text);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(framing_that_is_none_is_refused)
{
	struct daemon *daemon = daemon_new(1, "%s", bad_confs[_i].text);
	const char *said;

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	said = daemon_read(daemon, daemon->err);
	for (int word = 0; word < 3 && bad_confs[_i].words[word] != NULL; word++)
		ck_assert_msg(strstr(said, bad_confs[_i].words[word]) != NULL,
		    "no '%s' in:\n%s", bad_confs[_i].words[word], said);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("b_framings");
	TCase *htlv_crc = run_case(suite, "htlv_crc");
	TCase *length_field = run_case(suite, "length_field");
	TCase *line = run_case(suite, "line");
	TCase *reload = run_case(suite, "reload");
	TCase *module = run_case(suite, "module");

	run_add_workers(htlv_crc, htlv_crc_frames_of_zinx_are_echoed);
	tcase_add_test(htlv_crc, htlv_crc_replies_have_the_head_of_the_conf);
	run_add_workers(htlv_crc, wrong_checksum_closes_after_the_replies_before_it);
	run_add_workers(htlv_crc, wrong_checksum_is_skipped_where_the_conf_says_so);
	tcase_add_test(htlv_crc, many_skipped_frames_do_not_stop_the_rest);
	run_add_workers(length_field, length_field_frames_are_echoed);
	tcase_add_test(length_field, length_field_that_is_not_stripped_is_in_the_payload);
	tcase_add_test(length_field, messages_without_an_id_have_the_one_of_the_conf);
	tcase_add_test(length_field, length_within_its_header_closes);
	tcase_add_loop_test(length_field, greatest_length_closes, 4, 6);
	tcase_add_test(length_field, id_that_a_frame_cannot_say_is_refused_to_the_sender);
	run_add_workers(line, lines_are_echoed);
	tcase_add_test(line, lines_end_with_the_terminator_of_the_conf);
	tcase_add_test(line, line_beyond_max_message_closes);
	tcase_add_test(line, line_that_has_a_line_end_is_refused_to_the_sender);
	tcase_add_test(reload, half_a_line_outlives_a_reload);
	tcase_add_test(reload, connection_of_other_parameters_does_not_move);
	run_add_workers(module, framing_of_a_module_is_echoed);
	tcase_add_test(module, framing_of_a_module_has_the_longest_payload);
	tcase_add_test(module, framing_of_a_module_may_refuse);
	tcase_add_test(module, framing_of_a_module_may_have_a_checksum);
	tcase_add_test(module, one_message_reaches_connections_of_all_framings);
	tcase_add_loop_test(module, framing_that_answers_wrongly_ends_the_connection_only, 0,
	    sizeof(lies) / sizeof(lies[0]));
	tcase_add_test(module, framing_may_be_bad_without_a_reason);
	tcase_add_test(module, framing_that_encodes_too_much_sends_nothing);
	tcase_add_test(module, bad_framings_are_refused_to_the_module);
	tcase_add_test(module, framing_of_two_modules_is_refused);
	tcase_add_loop_test(module, framing_that_is_none_is_refused, 0,
	    sizeof(bad_confs) / sizeof(bad_confs[0]));
	return run_suite(suite);
}
