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
function rateOf(before, now, seconds) {
	const n = now - before;

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
	const rate = (counter) =>
		rateOf(before?.counters?.[counter], now.counters?.[counter], seconds);

	return {
		...now,
		requests: rate("frames_in"),
		replies: rate("frames_out"),
		bytesIn: rate("bytes_in"),
		bytesOut: rate("bytes_out"),
		refused: rate("sends_refused"),
		refusedAll: now.counters?.sends_refused ?? null,
		memory: now.memory_bytes || null,
	};
}

/* Modules' own metrics, summed over workers; only counters, by their names, have a rate. */
function metricsOf(pairs, seconds) {
	const metrics = new Map();

	for (const [before, now] of pairs) {
		for (const [module, values] of Object.entries(now.modules ?? {})) {
			for (const [name, value] of Object.entries(values)) {
				const key = `${module} ${name}`;
				const then = name.endsWith("_total") ? before?.modules?.[module]?.[name] : null;

				if (!metrics.has(key))
					metrics.set(key, { module, name, parts: [] });
				metrics.get(key).parts.push({
					value,
					rate: then === null ? null : rateOf(then, value, seconds),
				});
			}
		}
	}
	return [...metrics.values()].map(({ module, name, parts }) =>
		({ module, name, value: sumOf(parts, "value"), rate: sumOf(parts, "rate") }));
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
		metrics: metricsOf(pairs, seconds),
	};
}
