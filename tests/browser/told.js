/*
 * Put before the page's own script: its looks are told by the test, one by one. The page rests
 * until wake() is called, and whether it is in view is up to the test.
 */
(() => {
	const timeout = window.setTimeout.bind(window);
	const now = Date.now.bind(Date);
	let isHidden = false;

	window.asked = 0;
	window.told = null; // what it gets when it asks; null: no connection
	window.later_ms = 0;
	window.fetch = async () => {
		window.asked++;
		if (window.told === null)
			throw new TypeError("Failed to fetch");
		return new Response(JSON.stringify(window.told));
	};
	window.setTimeout = (resume, ms, ...rest) =>
		ms === 1000 ? void (window.wake = resume) : timeout(resume, ms, ...rest);
	window.hide = (value) => {
		isHidden = value;
		document.dispatchEvent(new Event("visibilitychange"));
	};
	Date.now = () => now() + window.later_ms;
	Object.defineProperty(document, "hidden", { get: () => isHidden });
})();
