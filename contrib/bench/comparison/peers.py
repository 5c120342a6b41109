"""Builds the Go peers. Needs Go and, the first time, the Go module proxy."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "peers"
ZINX = "github.com/aceld/zinx"
BUILD_TIMEOUT_S = 600

# Program -> (folder, patches that are laid over zinx's release, in this order).
PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "gnet": ("gnet", ()),
    "zinx-before": ("zinx", ()),
    "zinx-after": ("zinx", ("after.go",)),
    "zinx-newest": ("zinx", ("after.go", "newest.go")),
}

METHOD = re.compile(r"^func \(c \*Connection\) (\w+)\(.*?^}\n", re.MULTILINE | re.DOTALL)


class BuildError(Exception):
    """A peer could not be built; says why in one line."""


def replace_methods(source: str, patch: str) -> str:
    """Put each method of Connection that patch has in the place of the source's own."""
    wanted = {match[1]: match[0] for match in METHOD.finditer(patch)}
    replaced = set()

    def pick(match: re.Match[str]) -> str:
        if match[1] not in wanted:
            return match[0]
        replaced.add(match[1])
        return wanted[match[1]]

    result = METHOD.sub(pick, source)
    if missing := sorted(wanted.keys() - replaced):
        raise BuildError(f"zinx has no method {', '.join(missing)} to replace")
    return result


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command and return what it printed; BuildError with its last line if it fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S
        )
    except subprocess.TimeoutExpired:
        raise BuildError(
            f"{command[0]} {command[1]}: not done after {BUILD_TIMEOUT_S} s"
        ) from None
    if done.returncode != 0:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise BuildError(f"{command[0]} {command[1]} failed: {last}")
    return done.stdout.strip()


def patched_zinx(folder: Path, patches: Iterable[str], work: Path) -> Path:
    """Copy zinx's release to work, patch the copy, and return a modfile that uses it."""
    release = Path(run(["go", "list", "-mod=mod", "-m", "-f", "{{.Dir}}", ZINX], folder))
    copy = work / "zinx"
    shutil.copytree(release, copy, ignore=shutil.ignore_patterns("examples", "*_test.go"))
    for path in (copy, *copy.rglob("*")):
        path.chmod(path.stat().st_mode | 0o200)
    connection = copy / "znet" / "connection.go"
    source = connection.read_text()
    for patch in patches:
        source = replace_methods(source, (folder / "patch" / patch).read_text())
    connection.write_text(source)
    shutil.copy(folder / "go.mod", work / "patched.mod")
    shutil.copy(folder / "go.sum", work / "patched.sum")
    run(["go", "mod", "edit", f"-replace={ZINX}={copy}", work / "patched.mod"], folder)
    return work / "patched.mod"


def build(name: str, bin_folder: Path) -> Path:
    """Build one program into bin_folder and return its path. BuildError if that fails."""
    source, patches = PROGRAMS[name]
    folder = SOURCES / source
    program = bin_folder / name
    if shutil.which("go") is None:
        raise BuildError("Go is not installed (no 'go' in PATH)")
    bin_folder.mkdir(parents=True, exist_ok=True)
    if not patches:
        run(["go", "build", "-o", program, "."], folder)
        return program
    work = bin_folder / f"{name}.src"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    run(["go", "mod", "download"], folder)
    modfile = patched_zinx(folder, patches, work)
    run(["go", "build", f"-modfile={modfile}", "-o", program, "."], folder)
    return program


def version(program: Path) -> str:
    """What Go recorded in a program: "github.com/aceld/zinx v1.2.8 with after.go, go1.24.0"."""
    if shutil.which("go") is None:
        return "built elsewhere"
    lines = run(["go", "version", "-m", program], program.parent).splitlines()
    compiler = lines[0].rsplit(" ", 1)[-1]
    folder, patches = PROGRAMS[program.name]
    rows = [line.split() for line in lines[1:]]
    module = next(f"{row[1]} {row[2]}" for row in rows if row[0] == "dep" and folder in row[1])
    is_patched = any(row[0] == "=>" for row in rows)
    return f"{module}{' with ' + ', '.join(patches) if is_patched else ''}, {compiler}"
