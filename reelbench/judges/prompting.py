"""The prompts of a judge: ours, the owners', or a file that the user gives.

Three kinds of prompt set:

- `reelbench`: the files in the benchmark's own folder `judge/`. The rubric is the system message.
  Question, reference and answer stand verbatim in the user message, between tags that carry a mark
  made from their hash, which none of them holds, so that an answer can't close its own tag.
  Temperature 0.
- `official`: the owners' prompts, fetched from their repository at the commit and with the sha256
  that the benchmark's spec pins, kept under `$REELBENCH_HOME/prompts`, and sent byte for byte with
  the owners' temperature. The file is a Python module: its strings are read from the syntax tree,
  it is never run.
- a path: one text file, sent as one user message per criterion with temperature 0. It names its
  places as `{question}`, `{reference}` and `{answer}` (and `{criterion}` where there are several),
  or, as in Figure 4 of CURVE's supplement, by the lines `Question: question`,
  `Reference answer: gt` and `Model's answer: pred`.

Any of them may name `{also}`, further right answers, a line each, and `{rubric}`, what the row says
of its own.
"""

import ast
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, NamedTuple

from reelbench.base import settings
from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError
from reelbench.base.files import valid_text
from reelbench.base.settings import home
from reelbench.data.download import download
from reelbench.judges import turn_tokens
from reelbench.llm.ask_result import Again, Read
from reelbench.llm.messages import Message
from reelbench.llm.structured import Structured
from reelbench.registry.prompts import judge_folder
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

GITHUB_RAW = settings.GITHUB_RAW.default
"""The host of owners' prompts. `REELBENCH_GITHUB_RAW` names a mirror, checked by the sha256."""

_SHORT, _MARK = 8, 32  # hexadecimal digits
_PLACE = re.compile(r"\{(question|reference|answer|criterion|mark|also|rubric)\}")
_FURTHER = ("also", "rubric")
"""Places that a row may fill: further right answers, and what to look for in this answer."""
_ANCHOR = re.compile(r"^(\d+) [-–] (\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The prompts for one benchmark.

    Attributes:
        name: `reelbench`, `official`, or the file's name. Results by different ones are never one
            column.
        sha256: Of all the bytes that shape what is sent.
        temperature: Sent with each call. None sends none.
        bare_integer: A reply that is one integer counts.
        system: Criterion -> system message, or None for none.
        user: Criterion -> template of the user message.
        style: `positional` templates are for `str.format`.
        read: Reads the score of a reply's text. None is `parsing.parse_score`.
        again: Messages after a reply that can't be read. None is `reasks.score_again`.
    """

    name: str
    sha256: str
    temperature: float | None
    bare_integer: bool
    system: Mapping[str, str | None]
    user: Mapping[str, str]
    style: Literal["named", "positional"] = "named"
    read: Read[int] | None = None
    again: Again | None = None

    @property
    def structured(self) -> Structured:
        """When a schema is sent along, unless the user says otherwise."""
        if self.name == "official":
            return "never"
        return "retry"

    def messages(self, criterion: str, item: Item) -> list[Message]:
        """Return the chat messages that ask for `criterion` of `item`."""
        template = self.user[criterion]
        texts = (item.question, item.target["text"], turn_tokens.with_broken_tokens(item.text))
        if self.style == "positional":
            text = template.format(*texts)
        else:
            values = {
                "question": texts[0],
                "reference": texts[1],
                "answer": texts[2],
                "criterion": criterion,
                "also": "\n".join(item.target.get("also", ())),
                "rubric": item.target.get("rubric", ""),
            }
            if "{mark}" in template:
                named_texts = [values[name] for name in _FURTHER if f"{{{name}}}" in template]
                values["mark"] = _mark_in_no_text([*texts, *named_texts])
            # One pass over the template alone, so that text put in is never read for places.
            text = _PLACE.sub(lambda place: values[place[1]], template)
        user_message: Message = {"role": "user", "content": valid_text(text)}
        system = self.system[criterion]
        if system is None:
            return [user_message]
        return [{"role": "system", "content": system}, user_message]

    def anchors(self, criterion: str) -> dict[int, str]:
        """Return the meaning of each score, by lines as `4 - nearly all of it`."""
        lines = _ANCHOR.findall(self.system[criterion] or "")
        return {int(score): meaning for score, meaning in lines}


def _mark_in_no_text(texts: Sequence[str]) -> str:
    """Return a mark made of texts, which none of them holds."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    # Eight digits can be had by trying, so a text that holds them gets more; the others keep their
    # replies' keys.
    short_mark = digest[:_SHORT]
    if any(short_mark in text for text in texts):
        return digest[:_MARK]
    return short_mark


def load_prompts(spec: BenchmarkSpec, prompts: str) -> PromptSet:
    """Return the prompt set called `prompts` (`reelbench`, `official`, or a path).

    Raises:
        InputError: The benchmark has none, or the file is not one.
        ReelbenchError: The owners' own can't be fetched.
    """
    if spec.judge is None:
        raise InputError(f"{spec.id}: has no judged metric; leave --judge out")
    return load_scale_prompts(spec.id, spec.judge, judge_folder(spec, spec.judge), prompts)


def load_scale_prompts(
    name: str,
    judge: JudgeSpec,
    our_folder: Traversable,
    prompts: str,
    *,
    places: Sequence[str] = ("question", "reference", "answer"),
) -> PromptSet:
    """Return a prompt set as `load_prompts`, for any scale.

    Args:
        name: The benchmark's or scale's name, for errors.
        judge: The scale.
        our_folder: The folder of our prompts.
        prompts: `reelbench`, `official`, or a path.
        places: Places that a file of the user's must have.
    """
    if prompts == "reelbench":
        return _our_prompts(name, judge, our_folder)
    if prompts == "official":
        return _official_prompts(name, judge)
    return _prompts_of_file(settings.with_home_expanded(prompts), judge, places)


def _our_prompts(name: str, judge: JudgeSpec, folder: Traversable) -> PromptSet:
    files = [folder / f"{criterion}.txt" for criterion in judge.criteria]
    user_file = folder / "user.txt"
    if not all(file.is_file() for file in (*files, user_file)):
        raise InputError(f"--judge-prompts reelbench: there is none for {name}; give a file's path")
    system_prompts = [file.read_bytes() for file in files]
    user_prompt = user_file.read_bytes()
    system: dict[str, str | None] = {}
    for criterion, content in zip(judge.criteria, system_prompts, strict=True):
        system[criterion] = content.decode().strip()
    return PromptSet(
        name="reelbench",
        sha256=hashlib.sha256(b"\0".join([*system_prompts, user_prompt])).hexdigest(),
        temperature=0.0,
        bare_integer=len(judge.criteria) == 1,
        system=system,
        user=dict.fromkeys(judge.criteria, user_prompt.decode().strip()),
    )


# --- a file that the user gives


_PAPER_PLACES = {
    "question": re.compile(
        r"^([ \t]*question:[ \t]*)question[ \t]*$", re.MULTILINE | re.IGNORECASE
    ),
    "reference": re.compile(
        r"^([ \t]*reference answer:[ \t]*)gt[ \t]*$", re.MULTILINE | re.IGNORECASE
    ),
    "answer": re.compile(
        r"^([ \t]*model['’]s answer:[ \t]*)pred[ \t]*$", re.MULTILINE | re.IGNORECASE
    ),
}


def _prompts_of_file(path: Path, judge: JudgeSpec, places: Sequence[str]) -> PromptSet:
    try:
        content = path.read_bytes()
        template = content.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise InputError(
            f"--judge-prompts: {path} is neither reelbench, official nor a file; `reelbench` are "
            "this benchmark's own in our words, `official` its authors'"
        ) from None
    except IsADirectoryError:
        raise InputError(f"--judge-prompts: {path} is a folder; give one text file") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"--judge-prompts: {path} is not UTF-8 text (byte {error.start})"
        ) from None
    template = _with_places_of_paper(template)
    needed_places = list(places)
    if len(judge.criteria) > 1:
        needed_places.append("criterion")
    marks = [f"{{{place}}}" for place in needed_places]
    missing_marks = [mark for mark in marks if mark not in template]
    if missing_marks:
        raise InputError(
            f"--judge-prompts: {path} does not say where {', '.join(missing_marks)} go; "
            "write these marks into it"
        )
    return PromptSet(
        name=path.name,
        sha256=hashlib.sha256(content).hexdigest(),
        temperature=0.0,
        bare_integer=True,
        system=dict.fromkeys(judge.criteria),
        user=dict.fromkeys(judge.criteria, template.strip()),
    )


def _with_places_of_paper(template: str) -> str:
    """Return a template with our marks for the places as the paper prints them."""
    for place, line in _PAPER_PLACES.items():
        mark = f"{{{place}}}"
        if mark not in template:
            template = line.sub(rf"\g<1>{mark}", template)
    return template


# --- the owners' own


def _official_prompts(name: str, judge: JudgeSpec) -> PromptSet:
    source = judge.official_prompts
    if source is None:
        raise InputError(
            f"--judge-prompts official: {name}'s owners publish no prompt file; save the prompt "
            "that their paper prints as a text file and give its path"
        )
    if source.sha256 is None:
        raise InputError(f"{source.url}: the spec pins no sha256 for these prompts")
    content = _content_of(source.url, source.sha256)
    prompts = _prompts_of_module(content, judge.criteria, source.url)
    return PromptSet(
        name="official",
        sha256=source.sha256,
        temperature=judge.official_temperature,
        bare_integer=False,
        system={criterion: prompt.system for criterion, prompt in prompts.items()},
        user={criterion: prompt.user for criterion, prompt in prompts.items()},
        style="positional",
    )


def _content_of(url: str, sha256: str) -> bytes:
    """Return the owners' file, from our folder where it is whole there."""
    file = home() / "prompts" / f"{sha256[:16]}-{url.rsplit('/', 1)[-1]}"
    if file.is_file():
        content = file.read_bytes()
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
    if url.startswith(f"{GITHUB_RAW}/"):
        mirror = settings.GITHUB_RAW.get().rstrip("/")
        url = mirror + url.removeprefix(GITHUB_RAW)
    try:
        return download(url, file, sha256=sha256, again=True).read_bytes()
    except DataUnavailableError as error:
        raise ReelbenchError(
            f"--judge-prompts official: {error}; nothing was sent. Without network, put the file "
            f"at {file}"
        ) from None


class _OwnersPrompt(NamedTuple):
    """The owners' prompt of a criterion: the system message, and the user message's template."""

    system: str
    user: str


def _prompts_of_module(
    module: bytes, criteria: Sequence[str], where: str
) -> dict[str, _OwnersPrompt]:
    """Return each criterion's prompt from a Python module, without running it.

    The module has a function `<criterion>_prompt` per criterion, which binds two names to string
    constants and returns them as a pair.
    """
    prompts: dict[str, _OwnersPrompt] = {}
    for node in ast.parse(module).body:
        if isinstance(node, ast.FunctionDef) and node.name not in prompts:
            prompt = _prompt_that_function_returns(node)
            if prompt is not None:
                prompts[node.name] = prompt
    prompt_by_criterion: dict[str, _OwnersPrompt] = {}
    for criterion in criteria:
        name = f"{criterion}_prompt"
        if name not in prompts:
            raise ReelbenchError(
                f"--judge-prompts official: {where}: no function {name} returns two constant "
                "strings"
            )
        prompt_by_criterion[criterion] = prompts[name]
    return prompt_by_criterion


def _prompt_that_function_returns(function: ast.FunctionDef) -> _OwnersPrompt | None:
    strings: dict[str, str] = {}
    for node in function.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str() as text)):
                strings[name] = text
            case ast.Return(value=ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)])):
                if first in strings and second in strings:
                    return _OwnersPrompt(strings[first], strings[second])
    return None
