"""Environment variables, each declared once: its name, its purpose, and its default.

Every read of one goes through here. docs/settings.md is made from these declarations.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from reelbench.base.credentials import without_credentials

T = TypeVar("T")


def with_home_expanded(path: Path | str) -> Path:
    """Return a path with the user's home in place of `~`.

    The home of a user who is not on this machine stays as it is.
    """
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path has a RuntimeError for such a user


@dataclass(frozen=True, slots=True)
class Setting:
    """An environment variable.

    Attributes:
        name: The variable's name.
        about: Its purpose, in a few words.
        default: Its value where it is unset or blank.
        otherwise: In words, the behaviour where it is unset and has no `default`.
        secret: Its value is never shown.
    """

    name: str
    about: str
    default: str = ""
    otherwise: str = ""
    secret: bool = False

    def get(self) -> str:
        """Return the value, without blanks around it. The default where it is unset or blank."""
        return os.environ.get(self.name, "").strip() or self.default

    def read(self, parse: Callable[[str], T]) -> T | None:
        """Return the value as `parse` reads it. None where it is unset or blank."""
        text = self.get()
        return parse(text) if text else None

    @property
    def paths(self) -> list[Path]:
        """The value as paths, separated as the system separates them."""
        return [with_home_expanded(part) for part in self.get().split(os.pathsep) if part]

    @property
    def is_set(self) -> bool:
        """True where the environment has a value."""
        return bool(os.environ.get(self.name, "").strip())

    @property
    def shown(self) -> str:
        """The value for anybody's eyes: `(set)` for a secret, an address without its password."""
        if self.secret and self.is_set:
            return "(set)"
        return without_credentials(self.get())

    @property
    def fallback(self) -> str:
        """The default, or what holds without one, for the reader."""
        return self.otherwise or self.default or "nothing"


_declared: dict[str, Setting] = {}


def _declare_setting(
    name: str, about: str, *, default: str = "", otherwise: str = "", secret: bool = False
) -> Setting:
    setting = Setting(name, about, default, otherwise, secret)
    _declared[name] = setting
    return setting


HOME = _declare_setting(
    "REELBENCH_HOME", "folder for everything that Reelbench saves", default="~/.cache/reelbench"
)
CACHE = _declare_setting(
    "REELBENCH_CACHE",
    "cache of language models' replies: a file, or a PostgreSQL database that several "
    "machines share (`postgresql://…`)",
    otherwise="`judge.sqlite` in `REELBENCH_HOME`",
    secret=True,
)
JOB = _declare_setting(
    "REELBENCH_JOB",
    "name of a job; all its processes, on any machine, share one budget",
    otherwise="Slurm's job id; without it, each process has its own budget",
)
SLURM_ARRAY_JOB_ID = _declare_setting(
    "SLURM_ARRAY_JOB_ID", "id of a Slurm job array; Slurm sets it"
)
SLURM_JOB_ID = _declare_setting("SLURM_JOB_ID", "id of a Slurm job; Slurm sets it")
MEDIA = _declare_setting(
    "REELBENCH_MEDIA", f"folders with your videos, separated by `{os.pathsep}`"
)
BENCHMARKS = _declare_setting(
    "REELBENCH_BENCHMARKS",
    f"folders with a `benchmark.yaml`, or with such folders in them, separated by `{os.pathsep}`",
)
FRAMES = _declare_setting(
    "REELBENCH_FRAMES",
    "frames that a model gets (`uniform:32`), if you start `lmms-eval` itself",
    otherwise="frames of the task",
)
CANDIDATES = _declare_setting(
    "REELBENCH_CANDIDATES",
    "answers to each question (`beam:5`, `sample:5,t=0.7`), if you start `lmms-eval` itself",
    otherwise="one answer",
)
ANSWERING = _declare_setting(
    "REELBENCH_ANSWERING",
    "how `_options` tasks compare options (`options:norm=sum`), if you start `lmms-eval` itself",
    otherwise="`norm=mean`, `over=sentence`, and the task's `span`",
)
LANGUAGE = _declare_setting(
    "REELBENCH_LANGUAGE",
    "language of the questions; `run --languages` sets it",
    otherwise="their original one",
)
TRANSLATIONS = _declare_setting(
    "REELBENCH_TRANSLATIONS", "file with the translated questions; `run --languages` sets it"
)
LABEL = _declare_setting(
    "REELBENCH_LABEL", "further condition of a run (`web search`), if you start `lmms-eval` itself"
)
RUN = _declare_setting("REELBENCH_RUN", "number of this run, of several runs; `run --runs` sets it")
IDS = _declare_setting(
    "REELBENCH_IDS",
    "file with the ids of the questions to ask; `run --ids` sets it",
    otherwise="all",
)
PROGRESS = _declare_setting(
    "REELBENCH_PROGRESS",
    "folder for the progress of lmms-eval's processes; `run --status-file` sets it",
)
CUES = _declare_setting(
    "REELBENCH_CUES",
    "file with hints for the questions of `curve_reasoned`; `diagnose run` sets it",
)
FRAMES_CAP_GB = _declare_setting(
    "REELBENCH_FRAMES_CAP_GB", "maximum size of the frame store, in gigabytes", default="20"
)
FRAMES_STORE = _declare_setting(
    "REELBENCH_FRAMES_STORE",
    "frames that several machines share: a folder that all of them see, or an address "
    "(`s3://bucket/folder`, with `reelbench[s3]`; a server that isn't Amazon's by "
    "`AWS_ENDPOINT_URL`)",
    otherwise="each machine decodes for itself",
)
JUDGE = _declare_setting(
    "REELBENCH_JUDGE", "model that judges open answers", otherwise="nothing is judged"
)
JUDGE_URL = _declare_setting(
    "REELBENCH_JUDGE_URL", "OpenAI-compatible server of the judge", otherwise="`OPENAI_BASE_URL`"
)
JUDGE_API_KEY = _declare_setting(
    "REELBENCH_JUDGE_API_KEY",
    "key of the judge's server",
    otherwise="`OPENAI_API_KEY`",
    secret=True,
)
READER_API_KEY = _declare_setting(
    "REELBENCH_READER_API_KEY",
    "key of the server that `--reader` asks",
    otherwise="`OPENAI_API_KEY`",
    secret=True,
)
LLM_URL = _declare_setting(
    "REELBENCH_LLM_URL", "server that `--llm` asks", otherwise="`OPENAI_BASE_URL`"
)
LLM_API_KEY = _declare_setting(
    "REELBENCH_LLM_API_KEY",
    "key of the server that `--llm` asks",
    otherwise="`OPENAI_API_KEY`",
    secret=True,
)
OPENAI_BASE_URL = _declare_setting(
    "OPENAI_BASE_URL",
    "server of models that are named without a server",
    otherwise="https://api.openai.com/v1",
)
OPENAI_API_KEY = _declare_setting(
    "OPENAI_API_KEY", "key that is used if no `REELBENCH_…` variable sets one", secret=True
)
OPENAI_ORG_ID = _declare_setting(
    "OPENAI_ORG_ID", "organization that pays for OpenAI's calls", otherwise="the key's organization"
)
OPENAI_PROJECT_ID = _declare_setting(
    "OPENAI_PROJECT_ID", "project that pays for OpenAI's calls", otherwise="the key's project"
)
AZURE_OPENAI_ENDPOINT = _declare_setting(
    "AZURE_OPENAI_ENDPOINT",
    "address of your Azure OpenAI resource (`https://NAME.openai.azure.com`)",
)
SPACY_MODEL = _declare_setting(
    "REELBENCH_SPACY_MODEL",
    "spaCy model for parse depths, name or folder",
    default="en_core_web_sm",
)
GITHUB_RAW = _declare_setting(
    "REELBENCH_GITHUB_RAW",
    "mirror of GitHub's raw files, for official prompts",
    default="https://raw.githubusercontent.com",
)
ALLOW_HOSTS = _declare_setting(
    "REELBENCH_ALLOW_HOSTS",
    "hosts, separated by commas, from which data that a `benchmark.yaml` names may come over plain "
    "http, or from a private network",
    otherwise="none",
)
HF_ENDPOINT = _declare_setting(
    "HF_ENDPOINT", "the Hub, or a mirror of it", otherwise="https://huggingface.co"
)
HF_HOME = _declare_setting(
    "HF_HOME", "folder of the Hub's client", otherwise="`huggingface` in `XDG_CACHE_HOME`"
)
HF_HUB_CACHE = _declare_setting(
    "HF_HUB_CACHE", "file cache of the Hub's client", otherwise="`hub` in `HF_HOME`"
)
HUGGINGFACE_HUB_CACHE = _declare_setting("HUGGINGFACE_HUB_CACHE", "older name of `HF_HUB_CACHE`")
HF_HUB_OFFLINE = _declare_setting(
    "HF_HUB_OFFLINE", "`1`: nothing is fetched from the Hub", otherwise="online"
)
TRANSFORMERS_OFFLINE = _declare_setting(
    "TRANSFORMERS_OFFLINE", "`1`: nothing is fetched from the Hub", otherwise="online"
)
WEBHOOK_SECRET = _declare_setting(
    "WEBHOOK_SECRET",
    "shared secret that the Hub sends with each request to `leaderboard webhook`",
    secret=True,
)
XDG_CONFIG_HOME = _declare_setting(
    "XDG_CONFIG_HOME",
    "folder of the user's configuration, with `reelbench/reelbench.toml`",
    default="~/.config",
)
XDG_CACHE_HOME = _declare_setting(
    "XDG_CACHE_HOME", "folder of the user's cache", default="~/.cache"
)

PROVIDERS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("providers.json").read_bytes()
)
"""Providers of models by the prefix of a model's name. `llm.model_names` reads their fields."""

PROVIDER_KEYS = {
    name: Setting(provider["key"], f"key of {provider['title']}, for `{name}/MODEL`", secret=True)
    for name, provider in PROVIDERS.items()
}

FOLDERS = (HOME, MEDIA, BENCHMARKS)
"""Settings that a `benchmark.yaml` may name: folders of the user's own, and nothing secret."""

# A provider's key that is declared above, too, keeps that declaration.
ALL: tuple[Setting, ...] = tuple(
    ({key.name: key for key in PROVIDER_KEYS.values()} | _declared).values()
)
"""All settings. Beside them each benchmark has `data(its id)`."""


def first(*variables: Setting) -> str | None:
    """Return the value of the first of these variables that has one, or None."""
    for variable in variables:
        value = variable.get()
        if value:
            return value
    return None


def data(benchmark: str) -> Setting:
    """Return the variable that names the user's own data of a benchmark."""
    return Setting(
        f"REELBENCH_DATA_{benchmark.upper()}", "your own data of this benchmark: a file or a folder"
    )


def home() -> Path:
    """Return `$REELBENCH_HOME`, where Reelbench keeps what it makes. It need not exist yet."""
    return with_home_expanded(HOME.get()).absolute()


def record_of(place: Path, kind: str) -> Path:
    """Return the file with what this machine knows of a folder.

    `kind` is the folder of such files in `home`.
    """
    digest = hashlib.sha256(str(place.resolve()).encode("utf-8", "surrogateescape")).hexdigest()
    return home() / kind / f"{digest[:16]}.json"


def kept_tables() -> Path:
    """Return the folder of the tests that builds of boards keep."""
    return home() / "tables"
