"""The command line of the proofs."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from .daemon import ScenarioError, end_descendants, own_orphans
from .load import Load
from .scenarios import SCENARIOS, Setting


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lifecycle/run",
        description="What clients see while runneld is reloaded, upgraded, resized or killed.",
    )
    parser.add_argument("build", type=Path, help="a build folder in which make has been run")
    parser.add_argument("scenarios", nargs="+", choices=[*SCENARIOS, "all"], metavar="scenario",
                        help=f"{', '.join(SCENARIOS)}, or all")
    parser.add_argument("--times", type=int, help="how often it is reloaded, killed and so on")
    parser.add_argument("--busy", type=int, default=200, help="busy clients (%(default)s)")
    parser.add_argument("--rate", type=int, default=200,
                        help="sessions that begin in a second (%(default)s)")
    parser.add_argument("--think", type=int, default=0, metavar="MS",
                        help="pause of a busy client after a reply (%(default)s)")
    parser.add_argument("--keep", action="store_true",
                        help="keep the folder, with the logs, of a scenario that failed")
    return parser.parse_args(argv)


def run_scenario(name: str, options: argparse.Namespace) -> bool:
    scenario, times = SCENARIOS[name]
    root = Path(tempfile.mkdtemp(prefix="runnel-lifecycle-"))
    # Longer than any wait that a scenario allows, so that such a wait is measured and not cut.
    load = Load(options.busy, options.rate, options.think, limit_ms=10000)
    setting = Setting(options.build.resolve(), root / name, load, options.times or times)
    begun = time.monotonic()
    is_good = False
    try:
        findings = scenario(setting)
        is_good = findings.is_good
        print("\n".join(findings.lines))
    except ScenarioError as error:
        print(f"  FAIL {error}")
    finally:
        end_descendants()
        if not is_good and options.keep:
            print(f"       kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    print(f"{'PASS' if is_good else 'FAIL'} {name} ({time.monotonic() - begun:.0f} s)",
          flush=True)
    return is_good


def interrupt(signo: int, _frame: object) -> None:
    sys.exit(128 + signo)


def main(argv: list[str]) -> int:
    options = arguments(argv)
    names = list(SCENARIOS) if "all" in options.scenarios else options.scenarios
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    own_orphans()
    results = [run_scenario(name, options) for name in names]
    return 0 if all(results) else 1
