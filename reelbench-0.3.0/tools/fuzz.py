"""Fuzz what reads other people's files, replies and videos: seeded, bounded, each finding left to be repeated.

    python -m tools.fuzz --minutes 10 --seed 1 [--target videos] [--inputs 2000]
    python -m tools.fuzz --again fuzz-findings/scores-17

Targets take turns by their weight (`tools/fuzzing/targets.py` says of each what must never happen).
Inputs run in a process of their own, so that a crash or a hang is a finding too. A finding is a
folder with the input and what came of it; of those that end in the same place the first is kept,
and the rest are counted.
"""

import argparse
import faulthandler
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

from tools.fuzzing.holding import LIMIT_S, Finding
from tools.fuzzing.targets import TARGETS

SLICE = 200
"""Inputs of one process."""
MEMORY = 4 << 30
"""Bytes of address space that an input may take, with all that is imported."""
TOLD = "finding.txt"


def inputs_of(name: str, seed: int, first: int, last: int, place: Path) -> None:
    """Run a slice of a target's inputs, in this process; prints a JSON line for each."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    folder = place / "input"
    for number in range(first, last):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        TARGETS[name].write(Random(f"{seed} {name} {number}"), folder)  # noqa: S311 - to be drawn again
        print(json.dumps({"number": number, "where": where_it_ends(name, folder)}), flush=True)


def where_it_ends(name: str, folder: Path) -> str | None:
    """Check one input; returns None, or what must not have happened: the first line says where, the rest how."""
    faulthandler.dump_traceback_later(LIMIT_S, exit=True)
    try:
        TARGETS[name].check(folder)
    except Finding as finding:
        text = str(finding)
        return f"{text.replace(str(folder), '')[:60]}\n{text}"
    except Exception as error:  # noqa: BLE001 - this is what we are after
        ours = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "/tools/" not in frame.filename
        ]
        last = ours[-1] if ours else None
        place = f"{Path(last.filename).name}:{last.name}" if last else ""
        return f"{type(error).__name__} in {place}\n{traceback.format_exc()}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def settled(place: Path) -> dict[str, str]:
    """Return what the environment is to say: a home and a folder for temporary files of the run's own, no network."""
    (place / "tmp").mkdir(exist_ok=True)
    return {
        "REELBENCH_HOME": str(place / "home"),
        "XDG_CONFIG_HOME": str(place / "config"),
        "TMPDIR": str(place / "tmp"),
        "HF_HUB_OFFLINE": "1",
    }


class Run:
    """A run over all targets: what was tried, and what was found."""

    def __init__(self, seed: int, out: Path, place: Path) -> None:
        self._seed = seed
        self._out = out
        self._place = place
        self.tried: Counter[str] = Counter()
        self.found: dict[tuple[str, str], int] = {}

    def slice(self, name: str, inputs: int) -> None:
        """Run so many inputs of a target in a process of their own; one that dies costs the input that it was at."""
        first = self.tried[name]
        command = [sys.executable, "-m", "tools.fuzz", "--target", name, "--seed", str(self._seed)]
        command += ["--slice", str(first), str(first + inputs), str(self._place)]
        environ = {**os.environ, **settled(self._place)}
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        lines = [
            json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"number"')
        ]
        for line in lines:
            if line["where"]:
                self._keep(name, line["number"], line["where"])
        self.tried[name] += len(lines)
        if done.returncode:
            hangs = "Timeout (" in done.stderr
            if not hangs and done.returncode > 0:
                raise SystemExit(f"{name}: can't be run\n{done.stderr}")
            place = next(
                (
                    line.strip()
                    for line in done.stderr.splitlines()
                    if line.strip().startswith("File")
                ),
                "",
            )
            self._keep(
                name,
                first + len(lines),
                f"{'hang' if hangs else 'crash'} at {place}\n{done.stderr}",
            )
            self.tried[name] += 1

    def _keep(self, name: str, number: int, told: str) -> None:
        key = (name, told.splitlines()[0])
        self.found[key] = self.found.get(key, 0) + 1
        if self.found[key] > 1:
            return
        folder = self._out / f"{name}-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # Drawn again: a later input of the same process has taken its place.
        TARGETS[name].write(Random(f"{self._seed} {name} {number}"), folder)  # noqa: S311
        (folder / TOLD).write_text(told, encoding="utf-8", errors="replace")
        print(f"{folder}: {key[1]}", flush=True)


def fuzz(options: argparse.Namespace) -> int:
    """Run until the time or the inputs are spent; ends with 1 where there are findings."""
    names = options.target or list(TARGETS)
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as place:
        os.environ |= settled(Path(place))  # what findings are drawn from again
        run = Run(options.seed, options.out, Path(place))
        while time.monotonic() < end:
            left = {
                name: options.inputs - run.tried[name] if options.inputs else SLICE
                for name in names
            }
            name = min(
                (name for name in names if left[name] > 0),
                key=lambda name: run.tried[name] / TARGETS[name].weight,
                default=None,
            )
            if name is None:
                break
            run.slice(name, min(SLICE, left[name]))
    for name in names:
        told = {where: times for (target, where), times in run.found.items() if target == name}
        print(f"{name:10} {run.tried[name]:6} inputs  {len(told)} findings")
        for where, times in told.items():
            print(f"    {times:4} x {where}")
    return 1 if run.found else 0


def main() -> int:
    """Fuzz, repeat a finding, or (for a run's own processes) work through a slice."""
    parser = argparse.ArgumentParser(
        description="Fuzz what reads other people's files, replies and videos."
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--inputs", type=int, help="of each target at most")
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--again", type=Path, help="a finding's folder")
    parser.add_argument("--slice", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.slice:
        inputs_of(
            options.target[0],
            options.seed,
            int(options.slice[0]),
            int(options.slice[1]),
            Path(options.slice[2]),
        )
        return 0
    if options.again:
        with tempfile.TemporaryDirectory() as place:
            os.environ |= settled(Path(place))
            folder = Path(place) / "input"
            shutil.copytree(options.again, folder, ignore=shutil.ignore_patterns(TOLD))
            came = where_it_ends(options.again.name.rpartition("-")[0], folder)
        print(came or "nothing wrong comes of it")
        return 1 if came else 0
    return fuzz(options)


if __name__ == "__main__":
    sys.exit(main())
