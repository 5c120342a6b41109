"""The status page in a real browser: with a runneld that serves, and with looks that are told."""

import os
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from browser import Browser
from daemon import Daemon, eventually

TOLD = (Path(__file__).parent / "told.js").read_text()

# Text that would do something as markup. A path may hold it.
HOSTILE = "<b id=hostile>&amp;<img src=x onerror=alert(1)>"

browser = None


def setUpModule():
    global browser
    browser = Browser(os.environ["CHROMIUM"], os.environ["CHROMEDRIVER"])
    unittest.addModuleCleanup(browser.quit)


class PageTest(unittest.TestCase):
    """One runneld for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="runnel-page.")
        cls.addClassCleanup(folder.cleanup)
        cls.daemon = Daemon(os.environ["BUILD"], folder.name, f"{HOSTILE}.conf")
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.start()

    def see(self, selector, wanted):
        eventually(
            lambda: f"{selector} is {wanted!r}, not {browser.text(selector)!r}",
            lambda: browser.text(selector) == wanted,
        )

    def see_figure(self, selector):
        """A figure is there that is not 0."""
        return eventually(
            lambda: f"{selector} has a figure, not {browser.text(selector)!r}",
            lambda: (text := browser.text(selector)) not in ("–", "0", "0 B") and text,
        )

    def assert_no_hostile_element(self):
        self.assertIsNone(browser.text("#hostile"))
        self.assertEqual(browser.run("return document.images.length"), 0)


class Serving(PageTest):
    def tearDown(self):
        browser.prefer()
        browser.resize(1180, 900)

    def test_figures_follow_the_load(self):
        browser.open(self.daemon.url)
        self.see("#state", "serving")
        self.see("#requests", "0")
        self.assertEqual(browser.text("#connections"), "0")
        with self.daemon.load(20, "--think", "5ms"):
            self.see("#connections", "20")
            self.see_figure("#requests")
            self.see_figure("#bytes-out")
            first = browser.text("#requests")
            eventually(lambda: "requests/s change", lambda: browser.text("#requests") != first)
            self.assert_workers_add_up()
            self.assert_charts_move()
        self.see("#connections", "0")
        self.see("#requests", "0")
        self.assertEqual(browser.complaints(), [])

    def assert_workers_add_up(self):
        slots = browser.texts("#workers tbody th")
        connections = [int(text) for text in browser.texts("#workers td:nth-child(5)")]
        pids = browser.texts("#workers td:nth-child(3)")

        self.assertEqual(slots, ["0", "1", "all"])
        self.assertEqual(connections[0] + connections[1], connections[2])
        self.assertEqual(connections[2], 20)
        for slot in (0, 1):
            self.assertEqual(self.daemon.says(rf"worker {slot}: started, pid (\d+)"), pids[slot])

    def assert_charts_move(self):
        for chart in ("requests", "connections", "refused"):
            path = f"#chart-{chart} .curve"
            drawn = "return document.querySelector(arguments[0])?.getAttribute('d') ?? ''"

            eventually(lambda: f"{path} has points", lambda: browser.run(drawn, path).count("L") >= 2)
            before = browser.run(drawn, path)
            eventually(lambda: f"{path} moves", lambda: browser.run(drawn, path) != before)
        self.assertEqual(len(browser.texts("#chart-connections .curve")), 2)

    def test_nothing_is_asked_of_anybody_else(self):
        browser.open(self.daemon.url)
        self.see_figure("#pid")
        requests = browser.requests()
        paths = {urlsplit(url).path for url in requests}
        elsewhere = [url for url in requests if not url.startswith(self.daemon.url)]

        self.assertEqual(elsewhere, [])
        self.assertLessEqual({"/", "/page.css", "/page.js", "/status.json"}, paths)
        self.assertEqual(browser.complaints(), [])

    def test_what_a_path_holds_is_text(self):
        browser.open(self.daemon.url)
        self.see("#conf", str(self.daemon.conf))
        self.assert_no_hostile_element()

    def test_dark_is_not_light(self):
        browser.open(self.daemon.url)
        colours = {}
        for scheme in ("light", "dark"):
            browser.prefer(color_scheme=scheme)
            colours[scheme] = [browser.style("body", name) for name in ("backgroundColor", "color")]
        self.assertNotEqual(colours["light"][0], colours["dark"][0])
        self.assertNotEqual(colours["light"][1], colours["dark"][1])

    def test_motion_is_left_out_where_it_is_not_wanted(self):
        browser.open(self.daemon.url)
        self.assertNotEqual(browser.style(".tiles", "transitionDuration"), "0s")
        browser.prefer(reduced_motion="reduce")
        self.assertEqual(browser.style(".tiles", "transitionDuration"), "0s")

    def test_a_phone_is_wide_enough(self):
        browser.resize(360, 700)
        browser.open(self.daemon.url)
        self.see_figure("#pid")
        self.assertLessEqual(browser.run("return document.documentElement.scrollWidth"), 360)

    def test_it_says_when_nobody_answers_and_goes_on(self):
        browser.open(self.daemon.url)
        self.see("#state", "serving")
        pid = self.see_figure("#pid")
        self.daemon.stop()
        self.see("#state", "no answer")
        eventually(lambda: "a notice", lambda: "has not answered since" in browser.text("#notices"))
        self.assertEqual(browser.text("#pid"), pid)
        self.assertEqual(browser.run("return document.body.className"), "is-stale")
        self.daemon.start()
        self.see("#state", "serving")
        self.see("#pid", str(self.daemon.process.pid))
        self.see("#requests", "0")
        self.assertEqual(browser.text("#notices"), "")
        self.assertEqual(browser.run("return document.body.className"), "")


def look(at_ms, *workers, **fields):
    """An answer of the verb status at that time of the daemon's life."""
    return {
        "ok": True,
        "version": "1.2.3",
        "pid": 100,
        "state": "serving",
        "conf": "/etc/runnel.conf",
        "uptime_ms": at_ms,
        "generation": 1,
        "last_change": None,
        "draining": 0,
        "ending": [],
        "workers": list(workers),
        **fields,
    }


def worker(slot, frames, **fields):
    names = ("frames_in", "frames_out", "bytes_in", "bytes_out", "sends_refused")
    return {
        "slot": slot,
        "state": "ready",
        "pid": 200 + slot,
        "uptime_ms": 5000,
        "connections": 7,
        "degraded": False,
        "slowest": None,
        "counters": {name: frames for name in names},
        **fields,
    }


def histogram(*buckets):
    return {"count": buckets[-1][1], "sum_seconds": 1.0, "buckets": list(buckets)}


class Told(PageTest):
    """The page sees what the test tells, and nothing of the daemon that it comes from."""

    def tell(self, *looks):
        for told in looks:
            asked = browser.run("return window.asked")
            browser.run("window.told = arguments[0]; window.wake()", told)
            eventually(lambda: "the page asks", lambda: browser.run("return window.asked") > asked)

    def setUp(self):
        browser.open(self.daemon.url, TOLD)
        eventually(lambda: "the page has asked", lambda: browser.text("#state") == "no answer")

    def tearDown(self):
        self.assertEqual(browser.complaints(), [])

    def test_it_says_when_there_never_was_an_answer(self):
        self.assertIn("has not answered yet", browser.text("#notices"))
        self.assertEqual(browser.text("#requests"), "–")

    def test_rates_are_of_the_time_between_two_looks(self):
        self.tell(look(1000, worker(0, 0), worker(1, 500)))
        self.see("#connections", "14")
        self.assertEqual(browser.text("#requests"), "–")
        self.tell(look(3000, worker(0, 2000), worker(1, 5500)))
        self.see("#requests", "3.50k")
        self.assertEqual(browser.texts("#workers td:nth-child(6)"), ["1.00k", "2.50k", "3.50k"])
        self.assertEqual(browser.text("#refused-all"), "7,500 in all")

    def test_another_daemon_or_lower_counters_give_no_rate(self):
        self.tell(look(1000, worker(0, 900)), look(2000, worker(0, 1000)))
        self.see("#requests", "100")
        self.tell(look(3000, worker(0, 10)))
        self.see("#requests", "–")
        self.tell(look(4000, worker(0, 30)))
        self.see("#requests", "20")
        self.tell(look(9000, worker(0, 99999), pid=101))
        self.see("#pid", "101")
        self.see("#requests", "–")

    def test_a_slot_that_is_new_has_no_rate_yet(self):
        self.tell(look(1000, worker(0, 0)), look(2000, worker(0, 10), worker(1, 99999)))
        self.see("#requests", "10")
        self.assertEqual(browser.texts("#workers td:nth-child(6)"), ["10", "–", "10"])

    def test_quantiles_are_of_the_time_between_two_looks(self):
        before = histogram([0.000001, 1000], [0.5, 1001])
        now = histogram([0.000001, 1000], [0.002, 1090], [0.004, 1099], [0.5, 1101])
        self.tell(
            look(1000, worker(0, 0, reply_time=before, handler_time=before)),
            look(2000, worker(0, 0, reply_time=now, handler_time=before)),
        )
        self.see("#reply-p99", "4.00 ms")
        self.assertEqual(browser.text("#reply-p50"), "p50 2.00 ms")
        self.assertEqual(browser.text("#handler-p99"), "–")
        self.tell(look(3000, worker(0, 0, reply_time=histogram([0.5, 1101], [None, 1102]))))
        self.see("#reply-p99", "–")

    def test_beyond_the_last_bound_is_said_to_be_so(self):
        one = histogram([0.5, 10])
        two = {**one, "count": 20}
        self.tell(look(1000, worker(0, 0, reply_time=one)), look(2000, worker(0, 0, reply_time=two)))
        self.see("#reply-p99", "∞")

    def test_what_is_not_told_is_a_dash(self):
        self.tell(look(1000, worker(0, 0)), look(2000, worker(0, 0)))
        self.see("#requests", "0")
        self.assertEqual(browser.text("#reply-p99"), "–")
        self.assertEqual(browser.text("#workers td:nth-child(11)"), "–")
        self.tell(look(3000, worker(0, 0, memory_bytes=1500000)))
        self.see("#workers td:nth-child(11)", "1.50 MB")

    def test_trouble_is_marked(self):
        ending = {"generation": 1, "workers": [worker(0, 0, state="draining", connections=3)]}
        self.tell(look(1000, worker(0, 0, degraded=True), generation=2, draining=3, ending=[ending]))
        self.see("#state", "serving, degraded")
        self.assertIn("worker 0 crashes too often", browser.text("#notices"))
        self.assertIn("Generation 1 drains", browser.text("#notices"))
        self.assertEqual(browser.text("#balance"), "3 more drain")
        self.assertEqual(browser.text("#ending-workers th[scope=row]"), "1")
        self.assertEqual(browser.text("#ending-workers td:nth-child(3)"), "draining")
        self.tell(look(2000, worker(0, 0), generation=2))
        self.see("#state", "serving")
        self.assertTrue(browser.run("return document.getElementById('ending').hidden"))

    def test_upstreams_that_are_not_up_are_marked(self):
        def upstreams(*ups):
            names = ("all", "some", "none")
            return [{"name": n, "up": up, "wanted": 4} for n, up in zip(names, ups)]

        self.tell(look(1000, worker(0, 0)))
        self.see("#state", "serving")
        self.assertTrue(browser.run("return document.getElementById('upstreams').hidden"))
        self.tell(look(2000, worker(0, 0), upstreams=upstreams(4, 1, 0)))
        self.see("#upstream-list th[scope=row]", "all")
        self.assertEqual(browser.texts("#upstream-list td:nth-child(2)"), ["4", "1", "0"])
        self.assertEqual(browser.texts("#upstream-list .is-bad"), ["1", "0"])
        notices = browser.texts("#notices p")
        self.assertEqual(len(notices), 2)
        self.assertIn("Upstream some: some connections are not up", notices[0])
        self.assertIn("Upstream none is down", notices[1])
        self.tell(look(3000, worker(0, 0), upstreams=upstreams(4, 4, 4)))
        self.see("#notices", "")
        self.assertEqual(browser.texts("#upstream-list .is-bad"), [])

    def test_metrics_of_modules_are_summed(self):
        def modules(total, level):
            return {"modules": {"relay": {"asked_total": total, "waiting": level}}}

        self.tell(look(1000, worker(0, 0, **modules(10, 1)), worker(1, 0)))
        self.see("#metrics td:nth-child(3)", "10")
        self.assertEqual(browser.texts("#metrics td:nth-child(4)"), ["", ""])
        self.tell(look(3000, worker(0, 0, **modules(16, 1)), worker(1, 0, **modules(500, 2.5))))
        self.see("#metrics td:nth-child(3)", "516")
        self.assertEqual(browser.texts("#metrics tbody th"), ["relay", "relay"])
        self.assertEqual(browser.texts("#metrics td:nth-child(2)"), ["asked_total", "waiting"])
        self.assertEqual(browser.texts("#metrics td:nth-child(3)"), ["516", "3.5"])
        # The second worker had none before.
        self.assertEqual(browser.texts("#metrics td:nth-child(4)"), ["3", ""])
        self.tell(look(4000, worker(0, 0, modules={}), worker(1, 0)))
        eventually(
            lambda: "no table",
            lambda: browser.run("return document.getElementById('modules').hidden"),
        )

    def test_a_line_that_has_just_begun_is_seen(self):
        self.tell(look(1000, worker(0, 0)))
        self.see("#state", "serving")
        dots = "return document.querySelectorAll('#chart-connections .dot').length"
        self.assertEqual(browser.run(dots), 1)
        self.assertEqual(browser.style("#chart-connections .dot", "strokeWidth"), "6px")
        self.tell(look(2000, worker(0, 0)), look(3000, worker(0, 0)))
        self.assertEqual(browser.run(dots), 1)

    def test_what_a_module_is_called_is_text(self):
        slowest = {"ms": 12, "module": HOSTILE, "id": 7}
        fields = {"conf": HOSTILE, "last_change": HOSTILE, "version": HOSTILE, "state": HOSTILE}
        self.tell(look(1000, worker(0, 0, slowest=slowest, state=HOSTILE), **fields))
        self.see("#workers td:last-child", f"12 ms, {HOSTILE} 7")
        self.see("#change", HOSTILE)
        self.assert_no_hostile_element()

    def test_answers_that_do_not_change_are_called_old(self):
        self.tell(look(1000, worker(0, 0)))
        self.see("#state", "serving")
        self.tell(look(1000, worker(0, 0)))
        self.see("#state", "serving")
        browser.run("window.later_ms = 60000")
        self.tell(look(1000, worker(0, 0)))
        self.see("#state", "no answer")
        self.tell(look(2000, worker(0, 0)))
        self.see("#state", "serving")

    def test_an_answer_of_another_kind_does_not_end_it(self):
        self.tell({"nonsense": True})
        self.see("#state", "no answer")
        self.tell(look(1000, worker(0, 0)))
        self.see("#state", "serving")

    def test_nothing_is_asked_while_it_is_not_in_view(self):
        self.tell(look(1000, worker(0, 0)))
        self.see("#state", "serving")
        browser.run("hide(true)")
        browser.run("window.wake()")
        self.assertEqual(browser.run("return window.asked"), 2)
        browser.run("hide(false)")
        eventually(lambda: "the page asks", lambda: browser.run("return window.asked") == 3)

    def test_many_workers_have_their_lines(self):
        workers = [worker(slot, 0) for slot in range(40)]
        self.tell(look(1000, *workers), look(2000, *workers))
        self.see("#connections", "280")
        self.assertEqual(len(browser.texts("#workers tbody tr")), 41)
        self.assertEqual(len(browser.texts("#chart-connections .curve")), 40)


if __name__ == "__main__":
    unittest.main()
