"""Verdicts, the Markdown report, the chart."""

from __future__ import annotations

import unittest
import xml.etree.ElementTree as ElementTree

from comparison.chart import svg
from comparison.goals import verdicts
from comparison.memory import IdleMemory
from comparison.report import markdown, number, table
from comparison.results import Results, Run


def run(server: str, rate: float, round_number: int = 1, **changes: float) -> Run:
    figures: dict[str, float] = {
        "mean_ms": 10,
        "p50_ms": 10,
        "p90_ms": 15,
        "p99_ms": 18,
        "p999_ms": 30,
        "max_ms": 40,
        "server_cpu_us": 5,
        "client_cpu_us": 2,
        "idle_share": 0.25,
    }
    figures |= changes
    return Run(
        server, "c10k", round_number, replies=1000, failed=0, requests_per_s=rate, **figures
    )


class Verdicts(unittest.TestCase):
    def find(self, results: Results, what: str) -> tuple[float, bool]:
        found = [it for it in verdicts(results) if it.what == what]
        self.assertEqual(len(found), 1, what)
        return found[0].measured.median, found[0].met

    def test_at_least(self) -> None:
        what = "c10k, runneld / floor: requests/s"
        results = Results({}, [run("floor", 100), run("runneld", 95)])
        self.assertEqual(self.find(results, what), (0.95, True))
        results = Results({}, [run("floor", 100), run("runneld", 94)])
        self.assertEqual(self.find(results, what), (0.94, False))

    def test_at_most(self) -> None:
        what = "c10k, runneld / zinx-after: server CPU per reply"
        results = Results(
            {}, [run("zinx-after", 1, server_cpu_us=10), run("runneld", 1, server_cpu_us=4)]
        )
        self.assertEqual(self.find(results, what), (0.4, True))
        results = Results(
            {}, [run("zinx-after", 1, server_cpu_us=10), run("runneld", 1, server_cpu_us=5)]
        )
        self.assertEqual(self.find(results, what), (0.5, False))

    def test_two_workers_stand_against_two_processes(self) -> None:
        results = Results({}, [run("floor", 100), run("floor-2", 200), run("runneld-2", 300)])
        self.assertEqual(
            self.find(results, "c10k, runneld-2 / floor-2: requests/s"), (1.5, True)
        )

    def test_only_rounds_with_both_count(self) -> None:
        runs = [
            run("floor", 100, 1),
            run("floor", 100, 2),
            run("runneld", 300, 2),
            run("runneld", 900, 3),
        ]
        self.assertEqual(
            self.find(Results({}, runs), "c10k, runneld / floor: requests/s"), (3.0, True)
        )

    def test_fairness(self) -> None:
        results = Results({}, [run("runneld", 1, p99_ms=21, max_ms=50)])
        self.assertEqual(self.find(results, "c10k, runneld: p99 / p50"), (2.1, False))
        self.assertEqual(self.find(results, "c10k, runneld: max / p50"), (5.0, True))

    def test_memory_takes_the_larger_figure(self) -> None:
        results = Results(
            {}, memory=[IdleMemory("runneld", 100, silent_bytes=100, served_bytes=321)]
        )
        self.assertEqual(
            self.find(results, "memory of an idle connection, runneld"), (321, False)
        )

    def test_nothing_measured(self) -> None:
        self.assertEqual(verdicts(Results({})), [])


class Tables(unittest.TestCase):
    def test_numbers(self) -> None:
        given = [0, 0.947, 1.1, 23.44, 99.96, 115203.4]
        self.assertEqual(
            [number(it) for it in given], ["0", "0.95", "1.10", "23.4", "100.0", "115,203"]
        )

    def test_table(self) -> None:
        self.assertEqual(
            table(["a", "b"], [["x", "1"]]), "| a | b |\n| --- | ---: |\n| x | 1 |\n"
        )

    def test_report_shows_median_spread_and_trouble(self) -> None:
        runs = [run("floor", rate, i) for i, rate in enumerate((100, 300, 200), start=1)]
        report = markdown(
            Results({"kernel": "Linux"}, runs, troubles=["gnet: Go is not installed"])
        )
        self.assertIn("- kernel: Linux\n", report)
        self.assertIn(
            "| floor, 1 process | 200 (100 to 300) | 10.0 | 18.0 (18.0 to 18.0) |", report
        )
        self.assertIn("| 25.0 | 0 | 3 |\n", report)
        self.assertIn("- gnet: Go is not installed\n", report)
        self.assertNotIn("## Goals", report)


class Charts(unittest.TestCase):
    def test_a_row_a_server(self) -> None:
        results = Results({}, [run("runneld", 50), run("floor", 100)])
        root = ElementTree.fromstring(svg(results, "c10k"))
        words = [it.text for it in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertLess(words.index("floor, 1 process"), words.index("runneld, 1 worker"))
        bars = {
            it.get("class"): float(it.get("width", "0"))
            for it in root.iter()
            if it.get("rx") == "2"
        }
        self.assertAlmostEqual(bars["theirs"], 2 * bars["ours"], delta=0.2)

    def test_no_latency_at_all(self) -> None:
        silent = run("floor", 0, mean_ms=0, p50_ms=0, p90_ms=0, p99_ms=0, p999_ms=0, max_ms=0)
        ElementTree.fromstring(svg(Results({}, [silent]), "c10k"))


if __name__ == "__main__":
    unittest.main()
