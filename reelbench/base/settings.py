"""Environment variables, each declared once: its name, what it is for, and what holds where it is unset.

Every read of one goes through here; the texts are in `settings.json`, from which docs/settings.md
is made, too.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from reelbench.base.credentials import without_credentials

T = TypeVar("T")


def expanded(path: Path | str) -> Path:
    """Return a path with the user's home in place of `~`; that of a user who isn't here stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path has a RuntimeError for such a user


@dataclass(frozen=True, slots=True)
class Setting:
    """An environment variable, and what it is for in a few words.

    `default` is its value where it is unset or blank; `otherwise` says what holds then where that
    doesn't. A `secret` is never shown.
    """

    name: str
    about: str
    default: str = ""
    otherwise: str = ""
    secret: bool = False

    def get(self) -> str:
        """Return the value, without blanks around it; the default where it is unset or blank."""
        return os.environ.get(self.name, "").strip() or self.default

    def read(self, parse: Callable[[str], T]) -> T | None:
        """Return the value as `parse` reads it; None where it is unset or blank."""
        return parse(text) if (text := self.get()) else None

    @property
    def paths(self) -> list[Path]:
        """The value as paths, separated as the system separates them; none where there is none."""
        return [expanded(part) for part in self.get().split(os.pathsep) if part]

    @property
    def is_set(self) -> bool:
        """Whether the environment gives a value."""
        return bool(os.environ.get(self.name, "").strip())

    @property
    def shown(self) -> str:
        """The value as anybody may see it: `(set)` for a secret, an address without its password."""
        return "(set)" if self.secret and self.is_set else without_credentials(self.get())

    @property
    def fallback(self) -> str:
        """What holds where it is unset, for the reader."""
        return self.otherwise or self.default or "nothing"


_DECLARED = {
    name: Setting(name, **{**said, "about": said["about"].replace("{pathsep}", os.pathsep)})
    for name, said in json.loads(
        Path(__file__).with_name("settings.json").read_text("utf-8")
    ).items()
}
HOME = _DECLARED["REELBENCH_HOME"]
CACHE = _DECLARED["REELBENCH_CACHE"]
JOB = _DECLARED["REELBENCH_JOB"]
SLURM_ARRAY_JOB_ID = _DECLARED["SLURM_ARRAY_JOB_ID"]
SLURM_JOB_ID = _DECLARED["SLURM_JOB_ID"]
MEDIA = _DECLARED["REELBENCH_MEDIA"]
BENCHMARKS = _DECLARED["REELBENCH_BENCHMARKS"]
FRAMES = _DECLARED["REELBENCH_FRAMES"]
CANDIDATES = _DECLARED["REELBENCH_CANDIDATES"]
ANSWERING = _DECLARED["REELBENCH_ANSWERING"]
LANGUAGE = _DECLARED["REELBENCH_LANGUAGE"]
TRANSLATIONS = _DECLARED["REELBENCH_TRANSLATIONS"]
LABEL = _DECLARED["REELBENCH_LABEL"]
RUN = _DECLARED["REELBENCH_RUN"]
IDS = _DECLARED["REELBENCH_IDS"]
PROGRESS = _DECLARED["REELBENCH_PROGRESS"]
CUES = _DECLARED["REELBENCH_CUES"]
FRAMES_CAP_GB = _DECLARED["REELBENCH_FRAMES_CAP_GB"]
JUDGE = _DECLARED["REELBENCH_JUDGE"]
JUDGE_URL = _DECLARED["REELBENCH_JUDGE_URL"]
JUDGE_API_KEY = _DECLARED["REELBENCH_JUDGE_API_KEY"]
LLM_URL = _DECLARED["REELBENCH_LLM_URL"]
LLM_API_KEY = _DECLARED["REELBENCH_LLM_API_KEY"]
OPENAI_BASE_URL = _DECLARED["OPENAI_BASE_URL"]
OPENAI_API_KEY = _DECLARED["OPENAI_API_KEY"]
OPENAI_ORG_ID = _DECLARED["OPENAI_ORG_ID"]
OPENAI_PROJECT_ID = _DECLARED["OPENAI_PROJECT_ID"]
AZURE_OPENAI_ENDPOINT = _DECLARED["AZURE_OPENAI_ENDPOINT"]
SPACY_MODEL = _DECLARED["REELBENCH_SPACY_MODEL"]
GITHUB_RAW = _DECLARED["REELBENCH_GITHUB_RAW"]
HF_ENDPOINT = _DECLARED["HF_ENDPOINT"]
HF_HOME = _DECLARED["HF_HOME"]
HF_HUB_CACHE = _DECLARED["HF_HUB_CACHE"]
HUGGINGFACE_HUB_CACHE = _DECLARED["HUGGINGFACE_HUB_CACHE"]
HF_HUB_OFFLINE = _DECLARED["HF_HUB_OFFLINE"]
TRANSFORMERS_OFFLINE = _DECLARED["TRANSFORMERS_OFFLINE"]
WEBHOOK_SECRET = _DECLARED["WEBHOOK_SECRET"]
XDG_CONFIG_HOME = _DECLARED["XDG_CONFIG_HOME"]
XDG_CACHE_HOME = _DECLARED["XDG_CACHE_HOME"]
PROVIDERS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("providers.json").read_bytes()
)
"""Providers of models by the prefix of a model's name; `llm.model_names` says what of each."""
PROVIDER_KEYS = {
    name: Setting(provider["key"], f"key of {provider['title']}, for `{name}/MODEL`", secret=True)
    for name, provider in PROVIDERS.items()
}

FILE_DEFAULTS: dict[str, str] = {}
"""Option -> what a `reelbench.toml` set it to for the command that runs; results record it."""

ALL: tuple[Setting, ...] = tuple(
    ({key.name: key for key in PROVIDER_KEYS.values()} | _DECLARED).values()
)
"""Beside them each benchmark has `data(its id)`."""


def first(*variables: Setting) -> str | None:
    """Return the value of the first of these variables that has one, or None."""
    return next((value for variable in variables if (value := variable.get())), None)


def data(benchmark: str) -> Setting:
    """Return the variable that names the user's own data of a benchmark: a file, or a folder."""
    return Setting(
        f"REELBENCH_DATA_{benchmark.upper()}", "your own data of this benchmark: a file or a folder"
    )


def home() -> Path:
    """Return `$REELBENCH_HOME`, where Reelbench keeps what it makes; it need not exist yet."""
    return expanded(HOME.get()).absolute()
