"""What /proc says of processes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

PROC = Path("/proc")


def stat_fields(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat after the command, which may hold spaces. None: gone."""
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text[text.rindex(")") + 2 :].split()


def start_time(pid: int) -> int | None:
    """In ticks since boot; with the pid it names a process for good. None: gone or a zombie."""
    fields = stat_fields(pid)
    return None if fields is None or fields[0] == "Z" else int(fields[19])


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := stat_fields(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    members = [pid]
    for member in members:
        members += children.get(member, [])
    return members


def anonymous_bytes(pids: Iterable[int]) -> int:
    """Anonymous memory (heap, stacks); a page that n processes share counts 1/n in each."""
    total = 0
    for pid in pids:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss_Anon:"):
                total += int(line.split()[1]) * 1024
    return total


def socket_count(pids: Iterable[int]) -> int:
    """Sockets that the processes hold open."""
    count = 0
    for pid in pids:
        for entry in os.scandir(PROC / str(pid) / "fd"):
            try:
                count += os.readlink(entry.path).startswith("socket:")
            except FileNotFoundError:
                continue
    return count
