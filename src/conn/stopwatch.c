#include "config.h"

#include "conn/stopwatch.h"

/* What follows began now. */
static void go_on(struct stopwatch *watch, uint64_t now_ns)
{
	watch->since_ns = now_ns;
	watch->n = 0;
}

void stopwatch_read(struct stopwatch *watch, struct durations *durations)
{
	uint64_t now_ns = clock_ns(), took_ns = now_ns - watch->since_ns;

	watch->usual_ns = took_ns / watch->n;
	watch->bucket = (uint32_t)durations_bucket_of(watch->usual_ns);
	durations_add_to(durations, watch->bucket, took_ns, watch->n);
	watch->group = watch->usual_ns < STOPWATCH_LONG_NS ? STOPWATCH_GROUP : 1;
	go_on(watch, now_ns);
}

void stopwatch_single_out(struct stopwatch *watch, struct durations *durations)
{
	uint64_t now_ns = clock_ns(), took_ns = now_ns - watch->since_ns;
	uint64_t others_ns = watch->usual_ns * (watch->n - 1);

	if (others_ns > took_ns)
		others_ns = 0;
	if (watch->n > 1)
		durations_add(durations, others_ns, watch->n - 1);
	durations_add(durations, took_ns - others_ns, 1);
	go_on(watch, now_ns);
}
