"""The whole comparison, with stand-ins for the server and for runnel-bench."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from comparison import loadgen, procfs, servers
from comparison.main import alternation, main
from comparison.results import Results
from comparison.servers import SERVERS

BENCH = Path(__file__).resolve().parent.parent

SERVER = f"""\
#!{sys.executable}
import asyncio, os, signal, struct, sys

sys.path.insert(0, {str(BENCH)!r})
from comparison import protocol

async def serve(reader, writer):
    try:
        while True:
            message_id, length = struct.unpack(">II", await reader.readexactly(8))
            payload = await reader.readexactly(length)
            for kind in protocol.KINDS:
                if kind.id == message_id and length >= kind.size:
                    writer.write(protocol.frame(message_id, kind.reply(payload)))
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def run(port):
    open(sys.argv[0] + ".pids", "a").write(f"{{os.getpid()}}\\n")
    if os.path.exists(sys.argv[0] + ".stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1000)
    await server.serve_forever()

asyncio.run(run(int(sys.argv[2])))
"""

# Reports rates of 1000, 2000 ... in the order of its calls.
LOAD_GENERATOR = f"""\
#!{sys.executable}
import json, os, sys

calls = sys.argv[0] + ".calls"
with open(calls, "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
number = len(open(calls).readlines())
if os.path.exists(sys.argv[0] + ".broken"):
    sys.exit("runnel-bench: out of order")
latency = {{name: 1000 for name in ("mean", "p50", "p90", "p99", "p99.9", "max")}}
phase = {{"failed": 0, "connects_failed": {{"refused": 0}}}}
run = dict(phase, failed=2, replies=1000 * number, seconds=1.0, latency_us=latency)
cpu = {{"server_us_per_reply": 5, "client_us_per_reply": 2, "machine_idle_share": 0.5}}
report = {{"format": 1, "options": {{"duration_us": 1000000}}, "cpu": cpu}}
report |= {{"connect": {{"connects_failed": {{"refused": 1}}}}, "warmup": phase, "run": run}}
json.dump(report, open(sys.argv[sys.argv.index("--json") + 1], "w"))
"""


def read_numbers(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()]


class Comparison(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.build.parent)  # its name is a path, and not from anywhere else
        self.server = self.build / "contrib/bench/floor"
        self.server.parent.mkdir(parents=True)
        self.bench = self.build / "runnel-bench"
        for path, text in ((self.server, SERVER), (self.bench, LOAD_GENERATOR)):
            path.write_text(text)
            path.chmod(0o755)

    def compare(self, *words: str) -> tuple[int, Results, str]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = main([self.build.name, "--servers", "floor,floor-2", *words])
        output = self.build / "compare"
        results = Results.from_json((output / "results.json").read_text())
        return status, results, said.getvalue()

    def assert_all_stopped(self) -> None:
        pids = read_numbers(Path(f"{self.server}.pids"))
        self.assertGreater(len(pids), 0)
        self.assertEqual([pid for pid in pids if procfs.start_time(pid) is not None], [])

    def test_rounds_alternate_and_everything_is_written(self) -> None:
        status, results, _ = self.compare("--shapes", "mix", "--rounds", "2", "--no-memory")
        self.assertEqual(status, 0)
        self.assertEqual(
            [(run.round, run.server, run.requests_per_s, run.failed) for run in results.runs],
            [
                (1, "floor", 1000, 3),
                (1, "floor-2", 2000, 3),
                (2, "floor-2", 3000, 3),
                (2, "floor", 4000, 3),
            ],
        )
        report = (self.build / "compare/results.md").read_text()
        self.assertIn("| floor, 1 process | 2,500 (1,000 to 4,000) |", report)
        self.assertTrue((self.build / "compare/mix.svg").exists())
        self.assert_all_stopped()

    def test_shapes_become_options(self) -> None:
        self.compare("--quick", "--no-memory", "--seconds", "1.5", "--servers", "floor")
        calls = Path(f"{self.bench}.calls").read_text().splitlines()
        self.assertEqual(len(calls), 7)
        self.assertIn(
            "--duration 1500ms --warmup 3 --connections 200 --pipeline 1 127", calls[0]
        )
        self.assertIn("--pipeline 1 --think 1ms 127", calls[1])
        self.assertIn("--pipeline 16 127", calls[3])
        self.assertIn("--mix 127", calls[5])
        self.assertIn("--reconnect 5% 127", calls[6])

    def test_memory(self) -> None:
        words = ("--quick", "--shapes", "mix", "--servers", "floor")
        status, results, said = self.compare(*words)
        self.assertEqual(status, 0, said)
        self.assertEqual([it.connections for it in results.memory], [200])
        self.assertGreater(results.memory[0].silent_bytes, 100)
        self.assert_all_stopped()

    def test_add_keeps_other_shapes(self) -> None:
        words = ("--rounds", "1", "--no-memory", "--servers", "floor")
        self.compare("--shapes", "mix,reconnect", *words)
        _, results, _ = self.compare("--shapes", "mix", "--add", *words)
        self.assertEqual(
            [(run.shape, run.requests_per_s) for run in results.runs],
            [("reconnect", 2000), ("mix", 3000)],
        )

    def test_load_generator_that_fails(self) -> None:
        Path(f"{self.bench}.broken").touch()
        words = ("--shapes", "mix", "--rounds", "2", "--no-memory", "--servers", "floor")
        status, results, said = self.compare(*words)
        self.assertEqual((status, results.runs), (1, []))
        self.assertIn(
            "mix, round 1, floor: runnel-bench left no report: runnel-bench: out", said
        )
        self.assertEqual(len(results.troubles), 1)
        self.assert_all_stopped()

    def test_server_that_does_not_start(self) -> None:
        self.server.write_text("#!/bin/sh\necho no luck today\nexit 3\n")
        words = ("--shapes", "mix", "--rounds", "1", "--no-memory", "--servers", "floor")
        status, _, said = self.compare(*words)
        self.assertEqual(status, 1)
        self.assertIn("floor ended with status 3: no luck today", said)

    def test_server_that_does_not_stop(self) -> None:
        Path(f"{self.server}.stubborn").touch()
        with mock.patch.object(servers, "STOP_TIMEOUT_S", 0.1):
            self.compare(
                "--shapes", "mix", "--rounds", "1", "--no-memory", "--servers", "floor"
            )
        self.assert_all_stopped()

    def test_interrupt(self) -> None:
        words = ("--shapes", "mix", "--rounds", "1", "--no-memory", "--servers", "floor")
        with mock.patch.object(loadgen.LoadGenerator, "call", side_effect=KeyboardInterrupt):
            status, results, said = self.compare(*words)
        self.assertEqual((status, results.runs), (130, []))
        self.assertIn("compare: interrupted", said)
        self.assert_all_stopped()

    def test_missing_peer_is_skipped(self) -> None:
        with mock.patch.dict(os.environ, {"PATH": "/nowhere"}):
            words = ("--shapes", "mix", "--rounds", "1", "--no-memory")
            status, results, said = self.compare(*words, "--servers", "floor,gnet")
        self.assertEqual((status, len(results.runs)), (0, 1))
        self.assertIn("compare: gnet skipped: Go is not installed", said)

    def test_unknown_server(self) -> None:
        with self.assertRaisesRegex(SystemExit, "no server 'nginx'; there are floor, "):
            self.compare("--servers", "nginx")


class Alternation(unittest.TestCase):
    def test_each_round_begins_with_another(self) -> None:
        names = [(number, it.name) for number, it in alternation(SERVERS[:3], 4)]
        self.assertEqual(
            names[::3], [(1, "floor"), (2, "floor-2"), (3, "runneld"), (4, "floor")]
        )
        self.assertEqual(
            {it for it in names if it[0] == 2}, {(2, it.name) for it in SERVERS[:3]}
        )


class Reports(unittest.TestCase):
    def test_waiting_for_lost_replies_is_not_in_the_rate(self) -> None:
        latency = dict.fromkeys(("mean", "p50", "p90", "p99", "p99.9", "max"), 2_000_000)
        phase = {"failed": 0, "connects_failed": {}}
        cpu = {"server_us_per_reply": 1, "client_us_per_reply": 1, "machine_idle_share": 0}
        run = {**phase, "failed": 1, "replies": 1000, "seconds": 23.0, "latency_us": latency}
        report = {"format": 1, "options": {"duration_us": 8_000_000}, "cpu": cpu}
        report |= {"connect": phase, "warmup": phase, "run": run}
        self.assertEqual(loadgen.read_report(report, "mix", "floor", 1).requests_per_s, 100)
        run["seconds"] = 8.0
        self.assertEqual(loadgen.read_report(report, "mix", "floor", 1).requests_per_s, 125)

    def test_other_format(self) -> None:
        with self.assertRaisesRegex(loadgen.LoadError, "format 2, not 1"):
            loadgen.read_report({"format": 2}, "mix", "floor", 1)


if __name__ == "__main__":
    unittest.main()
