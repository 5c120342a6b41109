/* How figures read: three digits and a unit, and a dash for what is not known. */

export const NONE = "–";

function scale(value, units) {
	let unit = 0;

	if (!Number.isFinite(value))
		return value === Infinity ? "∞" : NONE;
	while (value >= 999.5 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	const isWhole = unit === 0 && Number.isInteger(value);
	const decimals = isWhole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	return value.toFixed(decimals) + units[unit];
}

export const figure = (value) => scale(value, ["", "k", "M", "G", "T"]);

export const bytes = (value) => scale(value, [" B", " kB", " MB", " GB", " TB"]);

export function duration(seconds) {
	const ns = seconds === null ? null : Math.round(seconds * 1e9);

	return scale(ns, [" ns", " µs", " ms", " s"]);
}

export const whole = (value) => (Number.isFinite(value) ? value.toLocaleString("en") : NONE);

export const clock = (date) => date.toLocaleTimeString("en-GB");

/* As runnelctl(8) has it: 5d 2h, 4m 5s. */
export function age(ms) {
	const units = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
	let left = Math.floor(ms / 1000);
	const parts = [];

	for (const [name, size] of units) {
		if (left >= size || parts.length > 0 || name === "s")
			parts.push(Math.floor(left / size) + name);
		left %= size;
	}
	return parts.slice(0, 2).join(" ");
}
