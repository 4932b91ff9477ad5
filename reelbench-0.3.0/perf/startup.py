"""What Reelbench adds to a start, of its own command and of lmms-eval with our plugin in it, and to a run beside it.

python -m perf.startup
"""

import sys
import tempfile
from pathlib import Path

from perf.measure import in_turn, report, timed

BIN = Path(sys.executable).parent

# What lmms-eval does at its start, up to the index of tasks; without our entry point in the second,
# and with a clock around our two parts in the first: the difference of two 20-second starts would
# drown a tenth of a second.
PLUGIN = """
import importlib.metadata, time, lmms_eval.tasks
from lmms_eval.models.registry_v2 import ModelManifest
entry, = importlib.metadata.entry_points(group="lmms_eval.models", name="reelbench")
start = time.perf_counter(); entry.load()(); loaded = time.perf_counter() - start
from reelbench import lmms_eval_plugin
from lmms_eval.tasks import TaskManager
manager = TaskManager.__new__(TaskManager)
import logging; manager.logger = logging.getLogger()
start = time.perf_counter(); lmms_eval_plugin._our_index(manager); indexed = time.perf_counter() - start
print(loaded + indexed, loaded, indexed)
"""

# `reelbench run` of 12 questions in its own process, with the log of a real run in lmms-eval's
# place.
RUN = (
    "run",
    "--frames",
    "uniform:4",
    "--",
    "--tasks",
    "rextime_mini",
    "--model",
    "reelbench_baseline",
)
OWN = """
import shutil, sys, time
from reelbench.cli import main
from reelbench.tasks.lmms import process
done, sys.argv = sys.argv[1], ["reelbench", *sys.argv[2:]]
left = shutil.ignore_patterns("reelbench")
process.lmms_eval = lambda *_, **__: shutil.copytree(done, sys.argv[-1], ignore=left, dirs_exist_ok=True)
try:
    main()
finally:
    print(time.process_time())
"""


def main() -> None:
    """Measure and print."""
    import os
    import subprocess

    with tempfile.TemporaryDirectory() as home:
        environ = {"REELBENCH_HOME": home}
        commands = {
            "python -c pass": [BIN / "python", "-c", "pass"],
            "reelbench --help": [BIN / "reelbench", "--help"],
            "reelbench list": [BIN / "reelbench", "list"],
        }
        report("whole process", in_turn(commands, runs=10, environ=environ))
        lmms = timed([BIN / "python", "-c", "import lmms_eval.evaluator"], environ)
        print(f"\nimport lmms_eval.evaluator: {lmms:.1f} s, our entry point in it")
        for _ in range(3):
            done = subprocess.run(
                [BIN / "python", "-c", PLUGIN], capture_output=True, text=True, check=True
            )
            total, loaded, indexed = map(float, done.stdout.split()[-3:])
            print(
                f"  the plugin: {total:.3f} s ({loaded:.3f} registering, {indexed:.3f} indexing "
                "our tasks)"
            )
        compiled = {
            **os.environ,
            "REELBENCH_HOME": home,
            "PYTHONDONTWRITEBYTECODE": "",
        }  # as an installed package's are
        outputs = [str(Path(home) / str(number)) for number in range(8)]
        subprocess.run(
            [BIN / "reelbench", *RUN, "--output_path", outputs[0]], env=compiled, check=True
        )
        own = []
        for output in outputs[1:]:
            words = [BIN / "python", "-c", OWN, outputs[0], *RUN, "--output_path", output]
            done = subprocess.run(words, env=compiled, capture_output=True, text=True, check=True)
            own.append(float(done.stdout.split()[-1]))
        report("reelbench run, processor time of its own process", {"12 answers": own[1:]})


if __name__ == "__main__":
    main()
