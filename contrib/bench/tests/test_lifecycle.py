import re
import tempfile
import unittest
from pathlib import Path

from lifecycle.proofs import daemon, load

JSON = (
    '{"moved": 2, "connects": 9, "failed": {"refused": 1, "turned_away": 3, "lost_end": 4, '
    '"lost_reset": 5, "wrong": 6}, "first_failures": [{"what": "wrong", "who": "busy", '
    '"port": 4711, "clock": "12:00:00.123", "at_s": 1.5, "begun_s": 0.5, "replies": 7, '
    '"error": ""}]}'
)


class ReportTest(unittest.TestCase):
    def setUp(self) -> None:
        self.report = load.parse(1, f"ready\nchurn: 1.0 s\n{JSON}\n")

    def test_failures_but_those_that_are_expected(self) -> None:
        self.assertEqual(self.report.failed(), 19)
        self.assertEqual(self.report.failed(*load.ENDS), 7)

    def test_connections_that_the_server_ended(self) -> None:
        self.assertEqual(self.report.ended(), 14)

    def test_failure_is_told_with_its_port(self) -> None:
        self.assertIn("12:00:00.123 busy port 4711: wrong", self.report.failures())

    def test_churn_that_died_is_no_report(self) -> None:
        with self.assertRaisesRegex(daemon.ScenarioError, "status 2: churn: no such"):
            load.parse(2, "churn: no such host\n")


class LogTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        build = Path(folder.name)
        (build / "runneld").write_bytes(b"#!/bin/false\n")
        work = build / "work"
        work.mkdir()
        self.daemon = daemon.Daemon(build, work, 2)

    def log(self, *lines: str) -> None:
        stamp = "2026-11-30T12:34:21.577Z"
        self.daemon.log.write_text("".join(f"{stamp} {line}\n" for line in lines))

    def test_counters_are_added_up_over_slots(self) -> None:
        self.log("info master[1]: worker 0: accepted=2 closed_peer=1",
                 "info master[1]: worker 1: accepted=3 closed_peer=3")
        self.assertEqual(self.daemon.counters(), {"accepted": 5, "closed_peer": 4})

    def test_slots_by_pid(self) -> None:
        self.log("info master[1]: worker 0: started, pid 7",
                 "info master[1]: worker 11: started, pid 8",
                 "info master[1]: worker 0: started, pid 9")
        self.assertEqual(self.daemon.slots(), {7: 0, 8: 11, 9: 0})

    def test_complaints_are_warnings_and_errors(self) -> None:
        self.log("info master[1]: no error", "warn master[1]: this", "error worker 1[2]: that")
        self.assertEqual(re.findall(r"\w+$", self.daemon.complaints(), re.MULTILINE),
                         ["this", "that"])

    def test_lines_before_an_offset_do_not_count(self) -> None:
        self.log("info master[1]: ready: 2 workers")
        self.assertTrue(self.daemon.find(daemon.READY))
        self.assertFalse(self.daemon.find(daemon.READY, self.daemon.log_size()))


if __name__ == "__main__":
    unittest.main()
