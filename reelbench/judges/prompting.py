"""What is sent to a judge: our prompts, the owners' own, or a file that the user gives.

Three kinds of prompt set:

- `reelbench`: the files in the benchmark's own folder `judge/`. The rubric is the system message;
  question, reference
  and answer stand verbatim in the user message, between tags that carry a mark made from their
  hash, which none of
  them holds, so that an answer can't close its own tag. Temperature 0.
- `official`: the owners' prompts, fetched from their repository at the commit and with the sha256
  that the benchmark's
  spec pins, kept under `$REELBENCH_HOME/prompts`, and sent byte for byte with the owners'
  temperature. The file is a
  Python module: its strings are read from the syntax tree, it is never run.
- a path: one text file, sent as one user message per criterion with temperature 0. It names its
  places as `{question}`,
  `{reference}` and `{answer}` (and `{criterion}` where there are several), or, as in Figure 4 of
  CURVE's supplement, by
  the lines `Question: question`, `Reference answer: gt` and `Model's answer: pred`.
"""

import ast
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from reelbench.base import settings
from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError
from reelbench.base.files import valid_text
from reelbench.base.settings import home
from reelbench.data.download import download
from reelbench.llm.ask_result import Again, Read
from reelbench.llm.messages import Message
from reelbench.registry.prompts import judge_folder
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

GITHUB_RAW = settings.GITHUB_RAW.default
"""Where owners' prompts come from; `REELBENCH_GITHUB_RAW` names a mirror, which the sha256 keeps honest."""

_SHORT, _MARK = 8, 32  # hexadecimal digits
_PLACE = re.compile(r"\{(question|reference|answer|criterion|mark)\}")
_ANCHOR = re.compile(r"^(\d+) [-–] (\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The prompts for one benchmark."""

    name: str  # `reelbench`, `official`, or the file's name: results by different ones are never one column
    sha256: str  # of all the bytes that shape what is sent
    temperature: float | None  # sent with each call; None sends none
    bare_integer: bool  # whether a reply that is one integer counts
    system: Mapping[str, str | None]  # criterion -> system message, or None for none
    user: Mapping[str, str]  # criterion -> template of the user message
    style: Literal["named", "positional"] = "named"  # the latter: `str.format`
    read: Read[int] | None = None  # the score in a reply's text; None for `parsing.parse_score`
    again: Again | None = None  # messages after a reply that can't be read; None sends the same

    def messages(self, criterion: str, item: Item) -> list[Message]:
        """Return the chat messages that ask for `criterion` of `item`."""
        template, system = self.user[criterion], self.system[criterion]
        texts = (item.question, item.target["text"], item.text)
        if self.style == "positional":
            text = template.format(*texts)
        else:
            values = dict(
                zip(("question", "reference", "answer"), texts, strict=True), criterion=criterion
            )
            if "{mark}" in template:
                digest = hashlib.sha256(
                    "\0".join(texts).encode("utf-8", "surrogatepass")
                ).hexdigest()
                # Eight digits can be had by trying, so a text that holds them gets more; the others
                # keep their replies' keys.
                values["mark"] = (
                    digest[:_MARK]
                    if any(digest[:_SHORT] in text for text in texts)
                    else digest[:_SHORT]
                )
            # One pass over the template alone, so that text put in is never read for places.
            text = _PLACE.sub(lambda place: values[place[1]], template)
        messages = [{"role": "user", "content": valid_text(text)}]
        return messages if system is None else [{"role": "system", "content": system}, *messages]

    def anchors(self, criterion: str) -> dict[int, str]:
        """Return score -> what it means, as the prompt's lines `4 - nearly all of it` say; empty where it has none."""
        return {
            int(score): meaning for score, meaning in _ANCHOR.findall(self.system[criterion] or "")
        }


def load_prompts(spec: BenchmarkSpec, prompts: str) -> PromptSet:
    """Return the prompt set called `prompts` (`reelbench`, `official`, or a path) for a benchmark.

    InputError where it has none, or the file is not one; ReelbenchError where the owners' own can't
    be fetched.
    """
    if spec.judge is None:
        raise InputError(f"{spec.id}: has no judged metric; leave --judge out")
    return load_scale_prompts(spec.id, spec.judge, judge_folder(spec, spec.judge), prompts)


def load_scale_prompts(
    name: str,
    judge: JudgeSpec,
    own: Traversable,
    prompts: str,
    *,
    places: Sequence[str] = ("question", "reference", "answer"),
) -> PromptSet:
    """As `load_prompts`, for any scale, with the folder of our `own` prompts; `name` is for errors.

    A file of the user's must have `places`.
    """
    if prompts == "reelbench":
        benchmark = name
        names = [*(f"{criterion}.txt" for criterion in judge.criteria), "user.txt"]
        missing = [file for file in names if not (own / file).is_file()]
        if missing:
            raise InputError(
                f"--judge-prompts reelbench: there is none for {benchmark}; give a file's path"
            )
        texts = [(own / file).read_bytes() for file in names]
        user = texts.pop().decode()
        digest = hashlib.sha256(b"\0".join([*texts, user.encode()])).hexdigest()
        return PromptSet(
            name="reelbench",
            sha256=digest,
            temperature=0.0,
            bare_integer=len(judge.criteria) == 1,
            system={
                c: text.decode().strip() for c, text in zip(judge.criteria, texts, strict=True)
            },
            user=dict.fromkeys(judge.criteria, user.strip()),
        )
    if prompts == "official":
        if judge.official_prompts is None:
            raise InputError(
                f"--judge-prompts official: {name}'s owners publish no prompt file; save the prompt that their paper"
                " prints as a text file and give its path"
            )
        source = judge.official_prompts
        url = source.url
        if source.sha256 is None:
            raise InputError(f"{url}: the spec pins no sha256 for these prompts")
        kept = home() / "prompts" / f"{source.sha256[:16]}-{url.rsplit('/', 1)[-1]}"
        content = kept.read_bytes() if kept.is_file() else b""
        if hashlib.sha256(content).hexdigest() != source.sha256:
            if url.startswith(f"{GITHUB_RAW}/"):
                url = settings.GITHUB_RAW.get().rstrip("/") + url.removeprefix(GITHUB_RAW)
            try:
                content = download(url, kept, sha256=source.sha256, again=True).read_bytes()
            except DataUnavailableError as error:
                raise ReelbenchError(
                    f"--judge-prompts official: {error}; nothing was sent. Without network, put the file at {kept}"
                ) from None
        pairs = _strings_of(content, judge.criteria, source.url)
        return PromptSet(
            name="official",
            sha256=source.sha256,
            temperature=judge.official_temperature,
            bare_integer=False,
            system={criterion: system for criterion, (system, _) in pairs.items()},
            user={criterion: user for criterion, (_, user) in pairs.items()},
            style="positional",
        )
    return _from_file(settings.expanded(prompts), judge, places)


# --- a file that the user gives
# --------------------------------------------------------------------------------------

_PAPER_PLACES = {
    "question": re.compile(r"^(\s*question:[ \t]*)question[ \t]*$", re.MULTILINE | re.IGNORECASE),
    "reference": re.compile(
        r"^(\s*reference answer:[ \t]*)gt[ \t]*$", re.MULTILINE | re.IGNORECASE
    ),
    "answer": re.compile(
        r"^(\s*model['’]s answer:[ \t]*)pred[ \t]*$", re.MULTILINE | re.IGNORECASE
    ),
}


def _from_file(path: Path, judge: JudgeSpec, places: Sequence[str]) -> PromptSet:
    try:
        raw = path.read_bytes()
        template = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        ours = "; `reelbench` are this benchmark's own in our words, `official` its authors'"
        raise InputError(
            f"--judge-prompts: {path} is neither reelbench, official nor a file{ours}"
        ) from None
    except IsADirectoryError:
        raise InputError(f"--judge-prompts: {path} is a folder; give one text file") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"--judge-prompts: {path} is not UTF-8 text (byte {error.start})"
        ) from None
    for name, line in _PAPER_PLACES.items():
        if f"{{{name}}}" not in template:
            template = line.sub(lambda match, name=name: f"{match[1]}{{{name}}}", template)
    wanted = [*places, *(["criterion"] if len(judge.criteria) > 1 else [])]
    missing = [f"{{{name}}}" for name in wanted if f"{{{name}}}" not in template]
    if missing:
        raise InputError(
            f"--judge-prompts: {path} does not say where {', '.join(missing)} go; write these marks into it"
        )
    return PromptSet(
        name=path.name,
        sha256=hashlib.sha256(raw).hexdigest(),
        temperature=0.0,
        bare_integer=True,
        system=dict.fromkeys(judge.criteria),
        user=dict.fromkeys(judge.criteria, template.strip()),
    )


# --- the owners' own
# -------------------------------------------------------------------------------------------------


def _strings_of(module: bytes, criteria: tuple[str, ...], where: str) -> dict[str, tuple[str, str]]:
    """Return each criterion's (system message, user template) from a Python module, without running it.

    The module has a function `<criterion>_prompt` per criterion, which binds two names to string
    constants and returns them as a pair.
    """
    pairs: dict[str, tuple[str, str]] = {}
    for function in (node for node in ast.parse(module).body if isinstance(node, ast.FunctionDef)):
        strings: dict[str, str] = {}
        for node in function.body:
            match node:
                case ast.Assign(
                    targets=[ast.Name(id=name)], value=ast.Constant(value=str() as text)
                ):
                    strings[name] = text
                case ast.Return(value=ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)])):
                    if first in strings and second in strings:
                        pairs.setdefault(function.name, (strings[first], strings[second]))
    for criterion in criteria:
        if f"{criterion}_prompt" not in pairs:
            raise ReelbenchError(
                f"--judge-prompts official: {where}: no function {criterion}_prompt returns two constant strings"
            )
    return {criterion: pairs[f"{criterion}_prompt"] for criterion in criteria}
