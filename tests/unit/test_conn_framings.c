/*
 * Framings that do what TLV does not: they refuse a message, make frames that are shorter
 * than their room, and find frames that are corrupt.
 */
#include "config.h"

#include <string.h>

#include "conn/shared.h"
#include "wire/htlv_crc.h"
#include "wire/line.h"

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one;
static struct line line;
static struct htlv_crc htlv_crc;

/* A frame is '<', the id as a letter, the payload, '>'; there is room for more before it. */
#define SPARE_HEAD 20

static enum decode spare_decode(const struct framing *framing, const uint8_t *in, size_t in_len,
    size_t max_payload, struct frame *frame)
{
	(void)framing;
	(void)in;
	(void)in_len;
	(void)max_payload;
	(void)frame;
	return DECODE_MORE;
}

static size_t spare_seal(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len)
{
	(void)framing;
	frame[0] = '<';
	frame[1] = (uint8_t)('a' + id);
	memmove(frame + 2, frame + SPARE_HEAD, len);
	frame[2 + len] = '>';
	return len + 3;
}

static const struct framing spare = {
	.name = "spare",
	.decode = spare_decode,
	.seal = spare_seal,
	.head = SPARE_HEAD,
	.tail = 1,
	.max_payload = UINT32_MAX,
};

static void set_up(void)
{
	rig_set_up();
	line_init(&line, 7, false);
	htlv_crc_init(&htlv_crc, 0xa2);
}

static void expect_text(struct peer *peer, const char *text)
{
	RIG_UNTIL((peer_read(peer), peer->n_got >= strlen(text)));
	ck_assert_uint_eq(peer->n_got, strlen(text));
	ck_assert_mem_eq(peer->got, text, peer->n_got);
}

static enum rnl_status send_text_shared(struct rnl_conn *conn, uint32_t id, const char *text)
{
	struct rnl_shared *shared = shared_new(conn->table, id, text, strlen(text));
	enum rnl_status status;

	ck_assert_ptr_nonnull(shared);
	status = conn_send_shared(conn, shared);
	shared_free(shared);
	return status;
}

/* From elsewhere than its own handler: nothing of it stays, and nobody has to ask for that. */
START_TEST(a_message_without_a_frame_leaves_nothing_behind)
{
	rig.listener.framing = &line.framing;
	peer_open(&one);
	ck_assert_int_eq(conn_send(one.conn, 1, "a\nb", 3), RNL_EINVAL);
	rig_turn();
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	ck_assert(sendq_is_empty(&one.conn->out));
	ck_assert_int_eq(send_text_shared(one.conn, 1, "a\nb"), RNL_EINVAL);
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	ck_assert_int_eq(conn_send(one.conn, 1, "a", 1), RNL_OK);
	ck_assert_int_eq(conn_send(one.conn, 1, "b\n", 2), RNL_EINVAL);
	ck_assert_int_eq(conn_send(one.conn, 1, "c", 1), RNL_OK);
	expect_text(&one, "a\nc\n");
	ck_assert_uint_eq(rig_counter(frames_out), 2);
	ck_assert_uint_eq(rig_counter(sends_refused), 0);
	peer_end(&one);
}
END_TEST

/* As other refusals are: once a second. */
START_TEST(a_message_without_a_frame_is_logged_with_a_cap)
{
	rig.listener.framing = &line.framing;
	peer_open(&one);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(conn_send(one.conn, 5, "a\nb", 3), RNL_EINVAL);
	ck_assert_uint_eq(
	    rig_n_logged("send refused, framing line has no frame for it (id 5, length 3)"), 1);
	peer_end(&one);
}
END_TEST

START_TEST(a_frame_may_be_shorter_than_its_room)
{
	void *place;

	rig.listener.framing = &spare;
	peer_open(&one);
	ck_assert_int_eq(conn_send(one.conn, 0, "one", 3), RNL_OK);
	ck_assert_int_eq(conn_reserve(one.conn, 10, &place), RNL_OK);
	memcpy(place, "two", 3);
	ck_assert_int_eq(conn_commit(one.conn, 1, 3), RNL_OK);
	ck_assert_int_eq(send_text_shared(one.conn, 2, "three"), RNL_OK);
	ck_assert_int_eq(conn_send(one.conn, 3, NULL, 0), RNL_OK);
	expect_text(&one, "<aone><btwo><cthree><d>");
	rig_turn();
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	peer_end(&one);
}
END_TEST

/* Each is framed once, and the queues of all refer to that. */
START_TEST(a_shared_message_is_framed_once_a_framing)
{
	const struct framing *const framings[] = { &framing_tlv, &line.framing, &spare };
	struct listener listeners[3] = { rig.listener, rig.listener, rig.listener };
	struct rnl_shared *shared = shared_new(rig.table, 3, "hi", 2);
	struct peer peers[3];
	uint64_t held = 0;

	for (int i = 0; i < 3; i++) {
		listeners[i].framing = framings[i];
		peer_open(&peers[i]);
		peers[i].conn->listener = &listeners[i];
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 3; i++)
			ck_assert_int_eq(conn_send_shared(peers[i].conn, shared), RNL_OK);
		rig_turn();
		if (round > 0)
			ck_assert_uint_eq(rig.table->pool.held_bytes, held);
		held = rig.table->pool.held_bytes;
	}
	shared_free(shared);
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	peer_read(&peers[0]);
	ck_assert_uint_eq(peers[0].n_got, 3 * (HEAD + 2));
	expect_text(&peers[1], "hi\nhi\nhi\n");
	expect_text(&peers[2], "<dhi><dhi><dhi>");
	for (int i = 0; i < 3; i++) {
		/* The listeners end with this function, and the connections later. */
		peers[i].conn->listener = &rig.listener;
		peer_end(&peers[i]);
	}
}
END_TEST

/* A turn is bounded by frames that are skipped, too, and goes on with the rest. */
START_TEST(corrupt_frames_count_for_a_turn)
{
	static const uint8_t corrupt[] = { 0xa2, 1, 0, 0xd1, 0xb3 };
	static const uint8_t good[] = { 0xa2, 1, 0, 0xd1, 0xb2 };
	uint8_t frames[(2 * CONN_TURN_FRAMES + 1) * sizeof(good)];

	rig.listener.framing = &htlv_crc.framing;
	rig.settings.bad_checksum = BAD_CHECKSUM_SKIP;
	for (size_t i = 0; i < 2 * CONN_TURN_FRAMES; i++)
		memcpy(frames + i * sizeof(corrupt), corrupt, sizeof(corrupt));
	memcpy(frames + sizeof(frames) - sizeof(good), good, sizeof(good));
	peer_open(&one);
	peer_write(&one, frames, sizeof(frames));
	conn_on_event(one.conn, EPOLLIN);
	ck_assert_uint_eq(rig_counter(bad_checksums), CONN_TURN_FRAMES);
	ck_assert(one.conn->is_waiting);
	RIG_UNTIL((peer_read(&one), one.n_got >= sizeof(good)));
	ck_assert_mem_eq(one.got, good, sizeof(good));
	ck_assert_uint_eq(rig_counter(bad_checksums), 2 * CONN_TURN_FRAMES);
	ck_assert_uint_eq(rig_counter(frames_in), 1);
	peer_end(&one);
}
END_TEST

START_TEST(a_corrupt_frame_closes_by_default)
{
	static const uint8_t frames[] = { 0xa2, 1, 0, 0xd1, 0xb2, 0xa2, 1, 0, 0xd1, 0xb3, 0xa2,
		1, 0, 0xd1, 0xb2 };

	rig.listener.framing = &htlv_crc.framing;
	peer_open(&one);
	peer_write(&one, frames, sizeof(frames));
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_eq(one.n_got, 5);
	ck_assert_uint_eq(rig_counter(bad_checksums), 1);
	ck_assert_uint_eq(rig_closed(protocol), 1);
	ck_assert_uint_eq(rig.n_handled, 1);
	peer_end(&one);
}
END_TEST

TCase *framings_tests(void)
{
	TCase *tcase = tcase_create("framings");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, rig_tear_down);
	tcase_add_test(tcase, a_message_without_a_frame_leaves_nothing_behind);
	tcase_add_test(tcase, a_message_without_a_frame_is_logged_with_a_cap);
	tcase_add_test(tcase, a_frame_may_be_shorter_than_its_room);
	tcase_add_test(tcase, a_shared_message_is_framed_once_a_framing);
	tcase_add_test(tcase, corrupt_frames_count_for_a_turn);
	tcase_add_test(tcase, a_corrupt_frame_closes_by_default);
	return tcase;
}
