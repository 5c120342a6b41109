/*
 * Charts of the last two minutes, as SVG. A chart is
 *
 *     figure    its element
 *     lines     what a sample gives: [name, value, colour, class] a line
 *     format    how a value reads
 *     isFilled  the lines are filled, and stand upon each other
 *     isLog     each step up is ten times as much
 */

import { create, createSvg, put, putList } from "./elements.js";

export const WINDOW_MS = 120_000;

/* Between two samples that no line connects. */
const GAP_MS = 2500;

const N_COLOURS = 8;

export const colourOf = (number) => `s${number % N_COLOURS}`;

const pictureOf = ({ figure }) => figure.querySelector("svg");

/* Where the lines go in a picture, in pixels. */
function frameOf(picture) {
	const { width, height } = picture.getBoundingClientRect();

	return { width, height, left: 46, right: width - 1, top: 8, bottom: height - 20 };
}

/* What the axis of values has lines at, lowest first. */
function ticksOf({ isLog }, values) {
	if (isLog) {
		const logs = values.filter((value) => value > 0).map(Math.log10);
		const first = Math.floor(Math.min(...logs, logs.length > 0 ? Infinity : -6));
		const last = Math.max(first + 1, Math.ceil(Math.max(...logs)));

		return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
	}
	const most = Math.max(1, ...values);
	const unit = 10 ** Math.floor(Math.log10(most));
	const top = unit * [1, 2, 4, 6, 8, 10].find((n) => most <= n * unit);

	return [0, top / 2, top].filter(Number.isInteger);
}

function axesOf(chart, ticks, now, { left, right, top, bottom }) {
	const place = chart.isLog ? Math.log10 : Number;
	const low = place(ticks[0]);
	const range = place(ticks.at(-1)) - low;

	return {
		x: (at) => right - ((now - at) / WINDOW_MS) * (right - left),
		y: (value) => bottom - ((place(value) - low) / range) * (bottom - top),
	};
}

/* Each line's points: from base to top. */
function linesOf(chart, samples) {
	const lines = new Map();

	for (const sample of samples) {
		let base = 0;

		for (const [name, value, colour, style = ""] of chart.lines(sample)) {
			const key = `${colourOf(colour)} ${style} ${name}`;

			if (!Number.isFinite(value))
				continue;
			if (!lines.has(key))
				lines.set(key, { colour, style, points: [] });
			lines.get(key).points.push({ at: sample.at, base, top: base + value });
			base += chart.isFilled ? value : 0;
		}
	}
	return [...lines.values()];
}

/* Unbroken stretches of a line: nothing is drawn where nothing is known. */
function stretchesOf(points) {
	const stretches = [];

	points.forEach((point, i) => {
		if (i === 0 || point.at - points[i - 1].at > GAP_MS)
			stretches.push([]);
		stretches.at(-1).push(point);
	});
	return stretches;
}

function pathOf(places) {
	return `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
}

function drawLine({ colour, style, points }, { x, y }, isFilled) {
	const draw = (kind, d) =>
		createSvg("path", { class: `${kind} ${colourOf(colour)} ${style}`, d });

	return stretchesOf(points).flatMap((stretch) => {
		const tops = stretch.map(({ at, top }) => [x(at), y(top)]);
		const bases = stretch.map(({ at, base }) => [x(at), y(base)]).reverse();
		const isLast = stretch.at(-1) === points.at(-1);
		const parts = [draw("curve", pathOf(tops))];

		if (isFilled)
			parts.unshift(draw("area", `${pathOf([...tops, ...bases])}z`));
		/* So that a line that has just begun is seen, and a point that stands alone. */
		if (isLast || stretch.length === 1)
			parts.push(draw("dot", `${pathOf([tops.at(-1)])}h0`));
		return parts;
	});
}

function drawGrid(chart, ticks, { y }, { left, right, bottom }) {
	const write = (style, x, y, text) => createSvg("text", { class: style, x, y }, text);
	const rule = (at) => createSvg("line", { class: "grid", x1: left, x2: right, y1: at, y2: at });
	const valueOf = (tick) => chart.format(tick).replace(/\.0+(?!\d)/, "");

	return [
		...ticks.map((tick) => rule(y(tick))),
		...ticks.map((tick) => write("end", left - 8, y(tick) + 4, valueOf(tick))),
		write("", left, bottom + 17, "2 min ago"),
		write("middle", (left + right) / 2, bottom + 17, "1 min ago"),
		write("end", right, bottom + 17, "now"),
	];
}

/* More than there are colours for have none: the table of workers tells them. */
function putLegend(chart, sample) {
	const lines = sample ? chart.lines(sample) : [];
	const shown = lines.length > N_COLOURS ? [] : lines;
	const list = chart.figure.querySelector("ul");
	const title = chart.figure.querySelector("h2").textContent;
	const texts = shown.map(([name, value]) => `, ${name} ${chart.format(value)}`);
	const make = () => create("li", {}, create("span"), " ", create("b"));

	putList(list, shown, make, (item, [name, value, colour, style = ""]) => {
		const [key, figure] = item.children;

		key.className = `swatch ${colourOf(colour)} ${style}`;
		put(key, name);
		put(figure, chart.format(value));
	});
	pictureOf(chart).setAttribute("aria-label", `${title} in two minutes${texts.join("")}`);
}

/* pointedAgo: so long before now is what the legend tells and a line marks; null: now. */
export function drawChart(chart, samples, now, pointedAgo) {
	const picture = pictureOf(chart);
	const frame = frameOf(picture);
	const lines = linesOf(chart, samples);
	const values = lines.flatMap(({ points }) => points.map(({ top }) => top));
	const ticks = ticksOf(chart, values);
	const axes = axesOf(chart, ticks, now, frame);
	const pointed =
		pointedAgo !== null && samples.findLast(({ at }) => at <= now - pointedAgo);
	const parts = [
		...drawGrid(chart, ticks, axes, frame),
		...lines.flatMap((line) => drawLine(line, axes, chart.isFilled)),
	];

	if (pointed) {
		const x = axes.x(pointed.at);
		const place = { x1: x, x2: x, y1: frame.top, y2: frame.bottom };

		parts.push(createSvg("line", { class: "pointer", ...place }));
	}
	picture.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
	picture.replaceChildren(...parts);
	putLegend(chart, pointed || samples.at(-1));
}

/* Tell how long ago that is where the pointer is; null: it has left. */
export function watchPointer(chart, onPoint) {
	const picture = pictureOf(chart);

	picture.addEventListener("pointermove", ({ clientX }) => {
		const { left, right } = frameOf(picture);
		const x = clientX - picture.getBoundingClientRect().left;

		onPoint(((right - x) / (right - left)) * WINDOW_MS);
	});
	picture.addEventListener("pointerleave", () => onPoint(null));
}
