/*
 * From looks to samples. A look is an answer of the verb status, as it came; a sample is what
 * two looks say about the time between them. What is not known is null.
 */

/* Between looks at the same daemon; its own clock says how far they are apart. */
function secondsBetween(before, now) {
	const ms = before?.pid === now.pid ? now.uptime_ms - before.uptime_ms : 0;

	return ms > 0 ? ms / 1000 : null;
}

/* Counters only grow: one that is lower than before has begun anew. */
function rateOf(before, now, counter, seconds) {
	const n = now.counters?.[counter] - before?.counters?.[counter];

	return seconds !== null && n >= 0 ? n / seconds : null;
}

function sumOf(workers, name) {
	const known = workers.map((worker) => worker[name]).filter(Number.isFinite);

	return known.length > 0 ? known.reduce((sum, value) => sum + value) : null;
}

/* Buckets are cumulative. Those that are empty are left out, and what is beyond all of them. */
function addBuckets(counts, { buckets, count }, sign) {
	let below = 0;

	for (const [limit, cumulative] of [...buckets, [null, count]]) {
		const bound = limit ?? Infinity;

		counts.set(bound, (counts.get(bound) ?? 0) + sign * (cumulative - below));
		below = cumulative;
	}
}

/* The bound of the bucket that the quantile is in: so much at most. */
function quantile(buckets, share) {
	let left = share * buckets.reduce((sum, [, n]) => sum + n, 0);

	return buckets.find(([, n]) => (left -= n) <= 0)?.[0] ?? null;
}

/* Of all workers, in the time between: a histogram of what came to theirs. */
function quantilesOf(pairs, histogram) {
	const counts = new Map();

	for (const [before, now] of pairs) {
		if (!before?.[histogram] || !now[histogram])
			continue;
		addBuckets(counts, now[histogram], 1);
		addBuckets(counts, before[histogram], -1);
	}
	const buckets = [...counts].filter(([, n]) => n !== 0).sort(([a], [b]) => a - b);

	if (buckets.some(([, n]) => n < 0))
		return { p50: null, p99: null };
	return { p50: quantile(buckets, 0.5), p99: quantile(buckets, 0.99) };
}

function workerOf(before, now, seconds) {
	return {
		...now,
		requests: rateOf(before, now, "frames_in", seconds),
		replies: rateOf(before, now, "frames_out", seconds),
		bytesIn: rateOf(before, now, "bytes_in", seconds),
		bytesOut: rateOf(before, now, "bytes_out", seconds),
		refused: rateOf(before, now, "sends_refused", seconds),
		refusedAll: now.counters?.sends_refused ?? null,
		memory: now.memory_bytes || null,
	};
}

const SUMMED = ["connections", "requests", "replies", "bytesIn", "bytesOut", "refused",
	"refusedAll", "memory"];

/* before may be null, or of another daemon. */
export function sampleOf(before, now) {
	const seconds = secondsBetween(before, now);
	const earlier = seconds !== null ? before.workers : [];
	const pairs = now.workers.map((worker) => [
		earlier.find(({ slot }) => slot === worker.slot),
		worker,
	]);
	const workers = pairs.map(([then, worker]) => workerOf(then, worker, seconds));

	return {
		at: performance.now(),
		workers,
		sum: Object.fromEntries(SUMMED.map((name) => [name, sumOf(workers, name)])),
		reply: quantilesOf(pairs, "reply_time"),
		handler: quantilesOf(pairs, "handler_time"),
	};
}
