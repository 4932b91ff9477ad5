"""Whose result it is: which names are taken, and the folder that a result has in the store.

A model's id is what a reader goes by, so two ids never look alike: what can't be seen, what turns
the text around and letters that pass for others are refused (as Unicode TR 39, section 5, but
stricter: see `_script`).
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from functools import reduce
from itertools import pairwise
from typing import Any

from reelbench.base.errors import BLANK
from reelbench.base.values import texts_in
from reelbench.judges.identity import NOT_STATED, returned_ids, single_judges
from reelbench.registry.records import BASELINE_ADAPTER, PEOPLE_ADAPTER, JudgeRecord, Result
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks import about as abouts

LONGEST = 200
"""Characters of a name; the Hub's repositories have at most 96."""

_OURS = "reelbench"
_SAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_FOLDER = 80
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
# Scripts of names, each set of those that are written together; others have twins of Latin letters
# and digits.
_SCRIPTS = ({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}, {"CYRILLIC"}, {"GREEK"})
_JAMO = re.compile(
    "[\u1100-\u11ff\u3131-\u318f]"
)  # parts of Hangul's syllables: strokes, circles and bars
# Marks that are written with these alone (ー, 々): elsewhere the first passes for a dash.
_MARKS = {"KATAKANA-HIRAGANA": {"KATAKANA", "HIRAGANA"}, "IDEOGRAPHIC": {"CJK"}}
# What looks like a Latin letter, a digit or a sign: a word of these alone passes for one of ASCII.
_PASS_FOR_ASCII = frozenset(
    "авеікмнорсԁѕтухԛԝјһӏгпзбчьАВЕІКМНОРСЅТУХЈԌԜҮЗӀЬαικνορτυχγηΑΒΕΖΗΙΚΜΝΟΡΤΥΧ一丨丶丿口工卜二三十八入ーノニハエロトヘへリり"
)


_TEXTS = (
    *("model.revision", "model.adapter", "settings.frames", "settings.label", "settings.language"),
    *(
        "settings.candidates",
        "settings.answering",
        "settings.preset.name",
        "settings.preset.about",
        "judge.prompt",
    ),
)


def problems(result: Result) -> Iterator[str]:
    """Yield the faults of a result's names."""
    model = result.model
    yield from _id("model.id", model.id)
    if _owner(model.id) == _OURS and model.adapter not in (PEOPLE_ADAPTER, BASELINE_ADAPTER):
        yield f"model.id is {model.id[:LONGEST]!r}, and {_OURS}/ is for the baselines and people of Reelbench itself"
    if model.about is not None and model.about.organisation:
        yield from _id("model.about.organisation", model.about.organisation)
    # What is None on the way has no such text.
    texts = [
        (field, reduce(lambda of, name: of and getattr(of, name), field.split("."), result))
        for field in _TEXTS
    ]
    if model.about is not None:
        said = [
            (field, [value, *(value if isinstance(value, dict) else ())])
            for field, value in model.about
        ]
        texts += [
            (f"model.about.{field}", text) for field, values in said for text in texts_in(values)
        ]
        for line in abouts.problems(model.about, result.benchmark.id, model, result.settings):
            yield f"model.{line}"
    for judge in single_judges(result.judge) if result.judge else ():
        yield from _judge(judge)
    for field, text in texts:
        if text is not None:
            yield from _text(field, text)
    provenance = result.provenance
    for field, text in (
        ("url", provenance.url),
        ("citation", provenance.citation),
        ("note", provenance.note),
    ):
        if text and (unseen := _invisible_character(text.replace("\n", " "))):
            yield f"provenance.{field} has the character U+{ord(unseen):04X}, which can't be seen"
    if provenance.url and not provenance.url.startswith(("https://", "http://")):
        yield f"provenance.url is {provenance.url[:60]!r}, expected one that begins with https://"


def reserved_name(spec: BenchmarkSpec, result: Result) -> str | None:
    """Return the organisation whose name a result bears and under which nobody else hands in, or None.

    It is ours, whose floors others are read against, or the benchmark's own.
    """
    named = {
        _owner(result.model.id),
        ((result.model.about and result.model.about.organisation) or "").casefold(),
    }
    return next(
        (name for name in (_OURS, spec.organisation) if name and name.casefold() in named), None
    )


def _owner(model: str) -> str:
    owner, slash, _ = model.casefold().partition("/")
    return owner if slash else ""


def _judge(judge: JudgeRecord) -> Iterator[str]:
    """Yield the faults of a judge's names: a table's heading is made of them."""
    for field, name in (
        ("judge.requested", judge.requested),
        *(("judge.returned", name) for name in judge.returned),
    ):
        yield from _id(field, name)
        if mark := next((mark for mark in (",", " + ", f"({NOT_STATED})") if mark in name), None):
            yield f"{field} is {name[:LONGEST]!r}, and {mark!r} in it would make it pass for other judges"


def _id(field: str, name: str) -> Iterator[str]:
    problems_of_text = list(_text(field, name))
    yield from problems_of_text
    if problems_of_text:
        return
    if any(part.strip(" .") == "" for part in name.split("/")):
        yield f"{field} is {name!r}, a part of which is empty or only dots"
    if name.startswith("-"):  # its folder would be an option to whoever names all with *
        yield f"{field} is {name!r}, which begins with a hyphen"
    if odd := next(
        (c for c in name if not c.isascii() and unicodedata.category(c)[0] not in "LM"), None
    ):
        yield f"{field} is {name!r}; {odd!r} (U+{ord(odd):04X}) passes for a sign of ASCII, write that"
    for letter, mark in pairwise(name):  # usual ones are one character with their letter
        if letter.isascii() and unicodedata.category(mark).startswith("M"):
            yield f"{field} is {name!r}, in which {letter!r} has a mark (U+{ord(mark):04X}) that it never has"
    for word in re.split(r"[^\w]|_", name):
        if fault := _script(word):
            yield f"{field} is {name!r}, in which {word!r} {fault}"


def _text(field: str, text: str) -> Iterator[str]:
    if not text.strip():
        yield f"{field} is blank"
    elif len(text) > LONGEST:
        yield f"{field} has {len(text)} characters, at most {LONGEST} are taken"
    elif unseen := _invisible_character(text):
        yield f"{field} has the character U+{ord(unseen):04X}, which can't be seen"
    elif text != " ".join(text.split()):
        yield f"{field} is {text!r}; leave out the spaces at its ends and the double ones"
    elif text != (usual := unicodedata.normalize("NFKC", text)):
        yield f"{field} is {text!r}, which has other forms of usual characters; write {usual!r}"


def _invisible_character(text: str) -> str | None:
    return next(
        (char for char in text if unicodedata.category(char) in _UNSEEN or BLANK.match(char)), None
    )


def _script(word: str) -> str:
    """Say what makes a word pass for another, or nothing.

    Its letters are A to Z, with marks or without, or of another script or those that are written
    together; never both, and never look-alikes alone.
    """
    letters = [char for char in unicodedata.normalize("NFD", word) if char.isalpha()]
    odd = [char for char in letters if not char.isascii()]
    scripts = {unicodedata.name(char, "UNKNOWN").split()[0] for char in odd}
    scripts -= {mark for mark, written_with in _MARKS.items() if scripts & written_with}
    if not odd:
        return ""
    if len(odd) < len(letters) or not any(scripts <= together for together in _SCRIPTS):
        mixed = sorted(scripts | ({"LATIN"} if len(odd) < len(letters) else set()))
        return f"has {odd[0]!r} (U+{ord(odd[0]):04X}, {', '.join(mixed).lower()}), which passes for another there"
    if _JAMO.search(word) or all(char in _PASS_FOR_ASCII for char in odd):
        return "looks like Latin letters or signs and is not"
    return ""


# --- its folder
# ------------------------------------------------------------------------------------------------------


def asked_of(judge: JudgeRecord) -> dict[str, Any]:
    """Return the part of a judge's record that says who was asked, and how."""
    asked = {"requested", "prompt", "prompt_sha256", "temperature", "extra", "votes", "vote_rule"}
    return judge.model_dump(mode="json", include=asked)


def answers_key(result: Result) -> str:
    """Return the key that results of the same answers share, whoever judged them."""
    return key_of(result.model_copy(update={"judge": None}))


def keys_of(result: Result) -> tuple[str, str]:
    """Return a result's folder in the store, and the one that it had when records didn't state what was asked."""
    return key_of(result), key_of(result, rows=False)


def key_of(result: Result, *, rows: bool = True) -> str:
    """Return a result's folder in the store.

    It ends with 12 hex digits of what makes two results of one model on one benchmark different
    things. Everything that shapes the answers or the scores: split, version, adapter and its
    arguments, settings, the judge that answered, whose data, and with `rows` what was asked and how
    it is scored; not what a run merely came to (frames given, sound: which is asked for with the
    frames, replies, cost).
    """
    judge, model = result.judge, result.model
    shape = {
        "version": result.benchmark.version,
        "split": result.benchmark.split,
        "adapter": model.adapter,
        "args": model.args,
        "settings": result.settings.model_dump(
            mode="json", exclude={"frames_given", "frames_unlike", "audio"}
        ),
        "judge": judge and asked_of(judge),
    }
    if judge is not None:
        answered = {one.requested: returned_ids(one) for one in single_judges(judge)}
        if other := {name: ids for name, ids in answered.items() if ids not in ([], [name])}:
            shape["answered"] = other
    if result.data == "own":
        shape["data"] = result.data
    if rows:
        about = result.benchmark
        stated = {"questions": about.questions_sha256, "scoring": about.scoring_sha256}
        shape |= {name: digest for name, digest in stated.items() if digest is not None}
    digest = hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:12]
    revision = _folder_name(model.revision or "unknown", model.revision or "unknown")
    return f"{model_folder(model.id)}/{revision}/{result.benchmark.id}/{digest}"


def model_folder(model: str) -> str:
    """Return the folder of all results of a model."""
    # `org/model` and `org__model` would meet in one folder: a name with the mark in it is told by
    # its hash as well.
    return _folder_name(model.replace("/", "__"), model, clear="__" not in model)


def stem(folder: str) -> str:
    """Return the key that folders of names that differ in case alone share."""
    return re.sub(r"-[0-9a-f]{8}$", "", folder).casefold()


def _folder_name(wanted: str, identity: str, *, clear: bool = True) -> str:
    """Return a name that is safe on every file system; two identities never share one."""
    safe = _SAFE.sub("_", wanted).strip(".")[:_LONGEST_FOLDER]
    if safe == wanted and clear and safe:
        return safe
    return f"{safe or 'model'}-{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
