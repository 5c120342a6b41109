#include "config.h"

#include "base/clock.h"
#include "conn/replies.h"

void replies_join(struct replies *replies, uint32_t n, uint64_t read_ns, uint32_t n_queued)
{
	if (replies->n == 0) {
		replies->n = n;
		replies->since_ns = read_ns;
		replies->n_ahead = n_queued;
		return;
	}
	if (replies->n_later == 0)
		replies->later_ns = read_ns;
	replies->n_later += n;
}

/* The oldest are written: the later ones, which stand in the queue to its end, are now these. */
static void advance(
    struct replies *replies, uint64_t now_ns, uint32_t n_queued, struct durations *durations)
{
	durations_add(durations, (now_ns - replies->since_ns) * replies->n, replies->n);
	replies->n = replies->n_later;
	replies->since_ns = replies->later_ns;
	replies->n_ahead = n_queued;
	replies->n_later = 0;
}

uint64_t replies_count(
    struct replies *replies, uint32_t n_gone, uint32_t n_queued, struct durations *durations)
{
	uint64_t now_ns;

	if (n_gone < replies->n_ahead) {
		replies->n_ahead -= n_gone;
		return 0;
	}
	now_ns = clock_ns();
	do
		advance(replies, now_ns, n_queued, durations);
	while (replies->n > 0 && n_queued == 0);
	return now_ns;
}
