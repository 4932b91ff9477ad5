"""Check the names in a result, and name the folder that a result has in the store.

A model's id is what a reader goes by, so two ids must never look alike (`registry.name_faults`).
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from reelbench.base.values import texts_in
from reelbench.data import ownership
from reelbench.judges.identity import judge_name_faults, returned_ids, single_judges
from reelbench.registry import discovery
from reelbench.registry.model_ids import answering_ids, other_ids
from reelbench.registry.name_faults import LONGEST, id_faults, text_faults, unseen_character
from reelbench.registry.records import (
    BASELINE_ADAPTER,
    JUDGE_SETTINGS,
    PEOPLE_ADAPTER,
    About,
    ErrataRecord,
    JudgeRecord,
    ModelRecord,
    Provenance,
    Result,
    Setting,
)
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks import about as abouts
from reelbench.tasks.hidden_submission import Submission

_OURS = "reelbench"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_FOLDER = 80
_NAMES_OF_STORE = {
    "aliases.yaml",
    "community",
    "ledger.jsonl",
    "removed",
    "replaced",
    "settings.yaml",
    "submissions",
    "withheld",
}
"""Files and folders of a store that are no model's."""
_DEVICES_OF_WINDOWS = re.compile(r"(?:aux|con|nul|prn|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)

_TEXT_FIELDS = (
    "model.revision",
    "model.adapter",
    "settings.frames",
    "settings.label",
    "settings.language",
    "settings.candidates",
    "settings.answering",
    "settings.reader.model",
    "settings.preset.name",
    "settings.preset.about",
)


def problems(result: Result) -> Iterator[str]:
    """Yield the faults of a result's names."""
    yield from run_problems(result)
    if result.judge is not None:
        for judge in single_judges(result.judge):
            yield from _judge_faults(judge)
        yield from text_faults("judge.prompt", result.judge.prompt)
    yield from _provenance_faults(result.provenance)
    for name in _returned_ids(result):
        yield from text_faults("provenance.asked.returned", name)


def run_problems(run: Result | Submission) -> Iterator[str]:
    """Yield the faults of the names in a run."""
    model = run.model
    yield from id_faults("model.id", model.id)
    if _owner(model.id) == _OURS and model.adapter not in (PEOPLE_ADAPTER, BASELINE_ADAPTER):
        yield (
            f"model.id is {model.id[:LONGEST]!r}, and {_OURS}/ is for the baselines and people of "
            "Reelbench itself"
        )
    if model.about is not None and model.about.organisation:
        yield from id_faults("model.about.organisation", model.about.organisation)
    if model.about is not None:
        for line in abouts.problems(model.about, run.benchmark.id, model, run.settings):
            yield f"model.{line}"
    for field in _TEXT_FIELDS:
        text = _get_path(run, field)
        if text is not None:
            yield from text_faults(field, text)
    if model.about is not None:
        yield from _about_faults(model.about)


def _get_path(record: object, path: str) -> Any:  # noqa: ANN401 - of any type
    """Return a field by its path, as in `settings.preset.name`, or None."""
    value: Any = record
    for name in path.split("."):
        if value is None:
            return None
        value = getattr(value, name)
    return value


def _about_faults(about: About) -> Iterator[str]:
    for field, value in about:
        texts = list(texts_in([value]))
        if isinstance(value, dict):
            texts += texts_in(list(value))
        for text in texts:
            yield from text_faults(f"model.about.{field}", text)


def _provenance_faults(provenance: Provenance) -> Iterator[str]:
    for field in ("url", "citation", "note"):
        text = getattr(provenance, field) or ""
        character = unseen_character(text.replace("\n", " "))
        if character is not None:
            code = f"U+{ord(character):04X}"
            yield f"provenance.{field} has the character {code}, which is invisible"
    url = provenance.url
    if url and not url.startswith(("https://", "http://")):
        yield f"provenance.url is {url[:60]!r}, expected one that begins with https://"


def reserved_name(spec: BenchmarkSpec, model: ModelRecord) -> str | None:
    """Return the organisation whose name a model bears where that name is reserved.

    Nobody else hands in results under the benchmark's own organisation, or under ours, whose floors
    others are read against.
    """
    names = {_owner(model.id)}
    about = model.about
    if about is not None and about.organisation:
        names.add(about.organisation.casefold())
    for organisation in (_OURS, spec.organisation):
        if organisation and organisation.casefold() in names:
            return organisation
    return None


def _owner(model: str) -> str:
    owner, slash, _ = model.casefold().partition("/")
    return owner if slash else ""


def _judge_faults(judge: JudgeRecord) -> Iterator[str]:
    """Yield the faults of a judge's names: a table's heading is made of them."""
    names = [("judge.requested", judge.requested)]
    names += [("judge.returned", name) for name in judge.returned]
    for field, name in names:
        yield from judge_name_faults(field, name)


# --- its folder -----------------------------------------------------------------------------------


def asked_of(judge: JudgeRecord) -> dict[str, Any]:
    """Return the part of a judge's record that says who was asked, and how."""
    return judge.model_dump(mode="json", include={"prompt", *JUDGE_SETTINGS})


def answers_key(result: Result) -> str:
    """Return the key that results of the same answers share, whoever judged them."""
    return key_of(result.model_copy(update={"judge": None}))


def key_of(result: Result) -> str:
    """Return a result's folder in the store.

    It ends with 12 hex digits of what makes two results of one model on one benchmark different
    things. That is everything that shapes the answers or the scores: split, version, adapter and
    its arguments, settings, the judge that answered, whose data, what was asked and how it is
    scored. What a run merely came to is no part of it (frames given, sound, which is asked for with
    the frames, replies, cost).

    A setting that people state, as an agent's, makes another thing of the same model.
    """
    benchmark = result.benchmark
    model = result.model
    not_asked = {"frames_given", "frames_unlike", "audio"}
    shape: dict[str, Any] = {
        "version": benchmark.version,
        "split": benchmark.split,
        "adapter": model.adapter,
        "args": model.args,
        "settings": result.settings.model_dump(mode="json", exclude=not_asked),
        "judge": None,
    }
    if result.judge is not None:
        shape["judge"] = asked_of(result.judge)
        unasked_ids = _ids_other_than_asked(result.judge)
        if unasked_ids:
            shape["answered"] = unasked_ids
    if models_other_than_asked(result):
        shape["answered_by"] = models_that_answered(result)
    if result.data == "own":
        shape["data"] = result.data
    if benchmark.questions_sha256 is not None:
        shape["questions"] = benchmark.questions_sha256
    if benchmark.errata is not None:
        shape["errata"] = _errata_shape(result, benchmark.errata)
    if benchmark.scoring_sha256 is not None:
        shape["scoring"] = benchmark.scoring_sha256
    if model.setting_beyond is not None:
        shape["setting"] = model.setting_beyond
    shape_text = json.dumps(shape, sort_keys=True)
    digest = hashlib.sha256(shape_text.encode()).hexdigest()[:12]
    revision = model.revision or "unknown"
    revision_folder = _folder_name(revision, revision)
    return f"{model_folder(model.id)}/{revision_folder}/{benchmark.id}/{digest}"


def _errata_shape(result: Result, errata: ErrataRecord) -> dict[str, Any]:
    """Return the part of a result's errata that its key is made from.

    Of secret answers their hash is left out: the key is public, and who knows all the rest of it
    would try answers against it.
    """
    shape = errata.model_dump(mode="json")
    spec = discovery.spec_of(result.benchmark)
    if ownership.has_secret_answers(spec, result.benchmark.split):
        shape["sha256"] = None
    return shape


def models_other_than_asked(result: Result) -> list[str]:
    """Return the ids of other models that gave a result's answers.

    They make two runs different things: behind one name, two models. The name with a date is none.
    """
    return other_ids(result.model.id, _returned_ids(result))


def models_that_answered(result: Result) -> list[str]:
    """Return the ids under which the asked model answered."""
    return answering_ids(result.model.id, _returned_ids(result))


def _returned_ids(result: Result) -> Mapping[str, int]:
    """Return id of a model that answered -> replies. Empty where nothing is known."""
    record = result.provenance.asked
    if record is None:
        return {}
    return record.returned or {}


def _ids_other_than_asked(judge: JudgeRecord) -> dict[str, list[str]]:
    """Return the ids that servers returned, by the model asked for, where they differ."""
    other_ids: dict[str, list[str]] = {}
    for member in single_judges(judge):
        ids = returned_ids(member)
        if ids and ids != [member.requested]:
            other_ids[member.requested] = ids
    return other_ids


def keys_in_other_settings(result: Result) -> list[str]:
    """Return the keys that a result would have if another setting were stated, or none."""
    model = result.model
    keys: list[str] = []
    for setting in (None, *get_args(Setting)):
        about = (model.about or About()).model_copy(update={"setting": setting})
        model_there = model.model_copy(update={"about": about})
        keys.append(key_of(result.model_copy(update={"model": model_there})))
    own_key = key_of(result)
    return [key for key in dict.fromkeys(keys) if key != own_key]


def model_folder(model: str) -> str:
    """Return the folder of all results of a model."""
    # `org/model` and `org__model` would meet in one folder: a name with the mark in it gets its
    # hash as well.
    name = model.replace("/", "__")
    return _folder_name(name, model, unambiguous="__" not in model)


def stem(folder: str) -> str:
    """Return the key that folders of names that differ in case alone share."""
    return re.sub(r"-[0-9a-f]{8}$", "", folder).casefold()


def _folder_name(name: str, identity: str, *, unambiguous: bool = True) -> str:
    """Return a name that is safe on every file system. Two identities never share one."""
    safe_name = _UNSAFE.sub("_", name).strip(".")[:_LONGEST_FOLDER]
    if safe_name.casefold() in _NAMES_OF_STORE or _DEVICES_OF_WINDOWS.match(safe_name):
        safe_name = f"_{safe_name}"
    if safe_name and safe_name == name and unambiguous:
        return safe_name
    identity_bytes = identity.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(identity_bytes).hexdigest()[:8]
    return f"{safe_name or 'model'}-{digest}"
