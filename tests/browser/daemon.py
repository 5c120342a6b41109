"""A runneld of the test's own, with its status page on a free port, and load for it."""

import contextlib
import re
import signal
import subprocess
import time
from pathlib import Path

DEADLINE_S = 30

CONF = """\
workers = 2
module-dir = "{modules}"
metrics-address = "{page}"
metrics-program = "{build}/runnel-http"
module c10k {{ }}
listen main {{
    address = "{main}"
    modules = {{ c10k }}
}}
"""


def eventually(what, condition):
    """What the condition gives as soon as that is true; what() says what it is, or was instead."""
    deadline = time.monotonic() + DEADLINE_S
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {DEADLINE_S} s: {what()}")
        time.sleep(0.05)
    return result


class Daemon:
    """Its ports stay when it is started again."""

    def __init__(self, build, folder, conf_name="runneld.conf"):
        self.build = Path(build)
        self.conf = Path(folder) / conf_name
        self.log = Path(folder) / "log"
        self.process = None
        self.addresses = {"page": "127.0.0.1:0", "main": "127.0.0.1:0"}

    @property
    def url(self):
        return f"http://{self.addresses['page']}/"

    def start(self):
        self.conf.write_text(
            CONF.format(build=self.build, modules=self.build / "src/modules/.libs", **self.addresses)
        )
        with open(self.log, "w") as log:
            command = [self.build / "runneld", "-F", "-c", self.conf]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log)
        eventually(
            lambda: "runneld is ready",
            lambda: self.process.poll() is not None or self.says(" ready: "),
        )
        if self.process.poll() is not None:
            raise AssertionError(self.log.read_text())
        self.addresses = {
            "page": self.says(r"metrics-address: listening on (\S+)"),
            "main": self.says(r"listen main: listening on (\S+)"),
        }

    def says(self, pattern):
        found = re.search(pattern, self.log.read_text())
        return found and found[found.re.groups]

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(DEADLINE_S)
            self.process = None

    @contextlib.contextmanager
    def load(self, connections, *options):
        """Connections with requests, until the end of the block."""
        command = [self.build / "runnel-bench", "--quiet", "--duration", "1h", "--threads", "1"]
        command += ["--connections", str(connections), *options, self.addresses["main"]]
        bench = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            bench.kill()
            bench.wait()
