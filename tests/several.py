"""Several commands in one process of a Python of its own, where each would take a second to start one."""

import json
import subprocess

CODE = """
import contextlib, io, json, sys
from reelbench.cli.main import main

done = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["reelbench", *words]
    said, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "12")
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        try:
            main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
    done.append([status, *(file.buffer.getvalue().decode() for file in (said, errors))])
print(json.dumps(done))
"""


def run_commands(python, *commands, **options):
    """Run them one after the other; returns of each what `subprocess.run` would."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    process = subprocess.run(
        [python, "-c", CODE, words], capture_output=True, text=True, check=False, **options
    )
    assert process.returncode == 0, process.stderr
    return [
        subprocess.CompletedProcess(command, *done)
        for command, done in zip(commands, json.loads(process.stdout), strict=True)
    ]
