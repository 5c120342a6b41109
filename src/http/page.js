/*
 * The status page of runneld: asks for status.json once a second while it is in view, and shows
 * what that says.
 */

import { WINDOW_MS, colourOf, drawChart, watchPointer } from "./chart.js";
import { create, put, putList, putTable } from "./elements.js";
import { NONE, age, bytes, clock, duration, figure, whole } from "./figures.js";
import { sampleOf } from "./sample.js";

const PERIOD_MS = 1000;

/* For an answer, and with answers that are always the same. */
const PATIENCE_MS = 3000;

const $ = (id) => document.getElementById(id);

/* What it knows. */
const page = {
	look: null, // the last one
	seenAt: null, // when that was, by the calendar
	trouble: null, // why there is no newer one
	samples: [], // of WINDOW_MS
	pointedAgo: null, // what the pointer is at in the charts
};

const charts = [
	{
		figure: $("chart-requests"),
		format: figure,
		isFilled: true,
		lines: ({ sum }) => [["in", sum.requests, 0]],
	},
	{
		figure: $("chart-connections"),
		format: whole,
		isFilled: true,
		lines: ({ workers }) =>
			workers.map(({ slot, connections: n }) => [`worker ${slot}`, n, slot]),
	},
	{
		figure: $("chart-latency"),
		format: duration,
		isLog: true,
		lines: ({ reply, handler }) => [
			["reply p99", reply.p99, 2],
			["p50", reply.p50, 2, "is-light"],
			["handler p99", handler.p99, 3],
			["p50", handler.p50, 3, "is-light"],
		],
	},
	{
		figure: $("chart-refused"),
		format: figure,
		isFilled: true,
		lines: ({ sum }) => [["refused", sum.refused, 5]],
	},
];

const slowestOf = ({ slowest }) =>
	slowest ? `${slowest.ms} ms, ${slowest.module} ${slowest.id}` : NONE;

const processColumns = [
	["Slot", ({ slot }) => slot],
	["State", ({ state, degraded }) => state + (degraded ? ", degraded" : ""), "words"],
	["Pid", ({ pid }) => pid || NONE],
	["Up", ({ pid, uptime_ms }) => (pid ? age(uptime_ms) : NONE)],
	["Connections", ({ connections }) => whole(connections), "adds"],
];
const slowestColumn = ["Slowest handler", ({ slowest }) =>
	slowest ? `${slowest.ms} ms, ${slowest.module} ${slowest.id}` : NONE, "words"];
const workerColumns = [
	...processColumns,
	["Requests/s", ({ requests }) => figure(requests), "adds"],
	["Out/s", ({ replies }) => figure(replies), "adds"],
	["Bytes in/s", ({ bytesIn }) => bytes(bytesIn), "adds"],
	["Bytes out/s", ({ bytesOut }) => bytes(bytesOut), "adds"],
	["Refused", ({ refusedAll }) => whole(refusedAll), "adds"],
	["Memory", ({ memory }) => bytes(memory), "adds"],
	slowestColumn,
];
const endingColumns = [
	["Generation", ({ generation }) => generation],
	...processColumns,
	slowestColumn,
];
const upstreamColumns = [
	["Upstream", ({ name }) => name],
	["Connections up", ({ up }) => whole(up)],
	["Wanted", ({ wanted }) => whole(wanted)],
];
const metricColumns = [
	["Module", ({ module }) => module],
	["Metric", ({ name }) => name, "words"],
	["All workers", ({ value }) => whole(value)],
	["/s", ({ rate }) => (rate === null ? "" : figure(rate))],
];

function putHead(look) {
	put($("version"), look.version);
	put($("up"), age(look.uptime_ms));
	put($("generation"), look.generation);
	put($("pid"), look.pid);
	put($("change"), look.last_change ?? NONE);
	put($("conf"), look.conf);
}

/* The most connections that a worker has, to the average; or what earlier generations have. */
function balanceOf({ draining }, workers, sum) {
	const most = Math.max(...workers.map(({ connections }) => connections));

	if (draining > 0)
		return `${whole(draining)} more drain`;
	return sum > 0 ? `balance ${((most * workers.length) / sum).toFixed(2)}` : "";
}

function putTiles(look, { workers, sum, reply, handler }) {
	put($("requests"), figure(sum.requests));
	put($("replies"), `${figure(sum.replies)} out`);
	put($("connections"), whole(sum.connections));
	put($("balance"), balanceOf(look, workers, sum.connections));
	put($("reply-p99"), duration(reply.p99));
	put($("reply-p50"), `p50 ${duration(reply.p50)}`);
	put($("handler-p99"), duration(handler.p99));
	put($("handler-p50"), `p50 ${duration(handler.p50)}`);
	put($("refused"), figure(sum.refused));
	put($("refused-all"), `${whole(sum.refusedAll)} in all`);
	put($("bytes-out"), bytes(sum.bytesOut));
	put($("bytes-in"), `${bytes(sum.bytesIn)} in`);
}

/* The colours are those of the lines in the chart. */
function putWorkers({ workers, sum }) {
	const all = { slot: "all", isAll: true, ...sum };
	const rows = workers.length > 1 ? [...workers, all] : workers;

	putTable($("workers"), workerColumns, rows);
	rows.forEach(({ slot, degraded, isAll }, i) => {
		const [head, state] = $("workers").tBodies[0].rows[i].cells;

		head.className = isAll ? "" : `swatch ${colourOf(slot)}`;
		state.classList.toggle("is-bad", degraded ?? false);
	});
}

function putUpstreams(upstreams) {
	$("upstreams").hidden = upstreams.length === 0;
	putTable($("upstream-list"), upstreamColumns, upstreams);
	upstreams.forEach(({ up, wanted }, i) =>
		$("upstream-list").tBodies[0].rows[i].cells[1].classList.toggle("is-bad", up < wanted));
}

function putMetrics({ metrics }) {
	$("modules").hidden = metrics.length === 0;
	putTable($("metrics"), metricColumns, metrics);
}

function putEnding({ ending }) {
	const rows = ending.flatMap(({ generation, workers }) =>
		workers.map((worker) => ({ generation, ...worker })));

	$("ending").hidden = rows.length === 0;
	putTable($("ending-workers"), endingColumns, rows);
}

const upstreamsOf = (look) => look?.upstreams ?? [];

const degradedOf = (look) => look?.workers.filter(({ degraded }) => degraded) ?? [];

/* Text and class. No figures that change every second, for it is read out. */
function noticesOf({ look, seenAt, trouble }) {
	const notices = [];
	const note = (style, text) => notices.push([text, style]);
	const since = look ? `since ${clock(seenAt)}: the figures are from then` : "yet";
	const slots = degradedOf(look).map(({ slot }) => slot).join(", ");

	if (trouble !== null)
		note("is-bad", `runneld has not answered ${since}. Still asking (${trouble}).`);
	if (slots !== "")
		note("is-bad", `Degraded: worker ${slots} crashes too often; the log says why.`);
	for (const { name, up, wanted } of upstreamsOf(look)) {
		if (up === 0)
			note("is-bad", `Upstream ${name} is down: no connection is up; the log says why.`);
		else if (up < wanted)
			note("is-warn", `Upstream ${name}: some connections are not up; the log says why.`);
	}
	for (const { generation } of look?.ending ?? [])
		note("is-warn", `Generation ${generation} drains: its connections move or end.`);
	return notices;
}

function putNotices(notices) {
	putList($("notices"), notices, () => create("p"), (paragraph, [text, style]) => {
		paragraph.className = style;
		put(paragraph, text);
	});
}

function putState({ look, trouble }) {
	const isDegraded = degradedOf(look).length > 0;
	const isStale = trouble !== null;
	const text = isStale ? "no answer" : look.state + (isDegraded ? ", degraded" : "");
	const poor = isStale || isDegraded ? "is-bad" : "is-warn";
	const style = text === "serving" ? "is-good" : poor;

	put($("state"), text);
	$("state").className = `state ${style}`;
	document.title = `${text} · runneld`;
	document.body.classList.toggle("is-stale", isStale);
}

function drawCharts() {
	const now = performance.now();

	page.samples = page.samples.filter(({ at }) => at >= now - WINDOW_MS);
	for (const chart of charts)
		drawChart(chart, page.samples, now, page.pointedAgo);
}

async function ask() {
	const response = await fetch("status.json", {
		cache: "no-store",
		signal: AbortSignal.timeout(PATIENCE_MS),
	}).catch(({ name }) => {
		throw new Error(name === "TimeoutError" ? "out of time" : "no connection");
	});

	if (!response.ok)
		throw new Error((await response.text()).trim());
	return response.json();
}

/* An answer that was there before is no look; when no other comes, its figures are old. */
function take(look) {
	const isSame = look.pid === page.look?.pid && look.uptime_ms === page.look.uptime_ms;

	if (isSame && Date.now() - page.seenAt > PATIENCE_MS)
		throw new Error("its answers do not change");
	if (isSame)
		return;
	page.samples.push(sampleOf(page.look, look));
	page.look = look;
	page.seenAt = new Date();
}

function showLook({ look, samples, seenAt }) {
	const sample = samples.at(-1);

	putHead(look);
	putTiles(look, sample);
	putWorkers(sample);
	putUpstreams(upstreamsOf(look));
	putMetrics(sample);
	putEnding(look);
	put($("as-of"), clock(seenAt));
}

async function refresh() {
	try {
		take(await ask());
		showLook(page);
		page.trouble = null;
	} catch ({ message }) {
		page.trouble = message;
	}
	putState(page);
	putNotices(noticesOf(page));
	drawCharts();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const visibilityChange = () => new Promise((resolve) =>
	document.addEventListener("visibilitychange", resolve, { once: true }));

for (const chart of charts) {
	watchPointer(chart, (ago) => {
		page.pointedAgo = ago;
		drawCharts();
	});
}
new ResizeObserver(drawCharts).observe(document.querySelector("main"));
for (;;) {
	const rest = pause(PERIOD_MS);

	await refresh();
	await rest;
	while (document.hidden)
		await visibilityChange();
}
