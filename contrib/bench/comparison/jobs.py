"""Jobs in the threads of one worker of runneld, and what a client beside them waits."""

from __future__ import annotations

import os
import shlex
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from .pressure import Daemon, Goal, daemon, percentile, pinger

JOBS = 1000
JOB_MS = 10

CONF = """\
workers = 1
module jobs {{ path = "{modules}/jobs.so" }}
listen main {{
    address = "127.0.0.1:{port}"
    modules = {{ jobs }}
    {options}
}}
"""


def build_module(top: Path, folder: Path) -> None:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    source = top / "contrib/bench/jobs.c"
    output = folder / "jobs.so"
    flags = ["-shared", "-fPIC", "-O2", f"-I{top / 'src/api'}"]
    subprocess.run([*compiler, *flags, "-o", str(output), str(source)], check=True)


def run_jobs(it: Daemon, message: int) -> float:
    """All jobs at once, on one connection; the seconds until the last is done."""
    client = it.connect()
    client.settimeout(120)
    begun = time.monotonic()
    client.sendall(struct.pack(">III", message, 4, JOB_MS) * JOBS)
    missing = 8 * JOBS
    while missing > 0:
        part = client.recv(missing)
        if not part:
            raise SystemExit("jobs: the connection was closed")
        missing -= len(part)
    client.close()
    return time.monotonic() - begun


def measure(build: Path, modules: Path, message: int, what: str) -> Goal:
    times: list[float] = []
    with daemon(build, conf=CONF, modules=modules) as it, pinger(it, times):
        seconds = run_jobs(it, message)
    p99 = percentile(times, 0.99)
    text = f"{p99:.2f} ms; max {max(times):.2f} ms of {len(times)}; jobs took {seconds:.1f} s"
    return Goal(f"{JOBS:,} jobs that {what}: p99 of a client beside them", "under 5 ms", text, p99 < 5)


def run(build: Path) -> list[Goal]:
    top = Path(__file__).resolve().parents[3]
    with tempfile.TemporaryDirectory() as name:
        build_module(top, Path(name))
        return [
            measure(build, Path(name), 2, f"sleep {JOB_MS} ms each"),
            measure(build, Path(name), 3, f"compute {JOB_MS} ms each"),
        ]
