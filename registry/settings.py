"""Environment variables, each declared once: its name, what it is for, and what holds where it is unset.

Every read of one goes through here; `reelbench doctor settings` lists them; docs/settings.md is held to this list.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from reelbench.registry.credentials import without_credentials

T = TypeVar("T")


def expanded(path: Path | str) -> Path:
    """Return a path with the user's home in place of `~`; that of a user who isn't here stays as it is."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path has a RuntimeError for such a user


@dataclass(frozen=True, slots=True)
class Setting:
    """An environment variable, and what it is for in a few words.

    `default` is its value where it is unset or blank; `otherwise` says what holds then where that doesn't. A `secret`
    is never shown.
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


HOME = Setting("REELBENCH_HOME", "folder for everything that Reelbench saves", "~/.cache/reelbench")
CACHE = Setting(
    "REELBENCH_CACHE",
    "cache of language models' replies: a file, or a PostgreSQL database that several machines share "
    "(`postgresql://…`)",
    otherwise="`judge.sqlite` in `REELBENCH_HOME`",
    secret=True,
)
JOB = Setting(
    "REELBENCH_JOB",
    "name of a job; all its processes, on any machine, share one budget",
    otherwise="Slurm's job id; without it, each process has its own budget",
)
SLURM_ARRAY_JOB_ID = Setting("SLURM_ARRAY_JOB_ID", "id of a Slurm job array; Slurm sets it")
SLURM_JOB_ID = Setting("SLURM_JOB_ID", "id of a Slurm job; Slurm sets it")
MEDIA = Setting("REELBENCH_MEDIA", f"folders with your videos, separated by `{os.pathsep}`")
BENCHMARKS = Setting(
    "REELBENCH_BENCHMARKS",
    f"folders with a `benchmark.yaml`, or with such folders in them, separated by `{os.pathsep}`",
)
FRAMES = Setting(
    "REELBENCH_FRAMES",
    "frames that a model gets (`uniform:32`), if you start `lmms-eval` itself",
    otherwise="frames of the task",
)
CANDIDATES = Setting(
    "REELBENCH_CANDIDATES",
    "answers to each question (`beam:5`, `sample:5,t=0.7`), if you start `lmms-eval` itself",
    otherwise="one answer",
)
ANSWERING = Setting(
    "REELBENCH_ANSWERING",
    "how `_options` tasks compare options (`options:norm=sum`), if you start `lmms-eval` itself",
    otherwise="`norm=mean`, `over=sentence`, and the task's `span`",
)
LANGUAGE = Setting(
    "REELBENCH_LANGUAGE", "language of the questions; `run --languages` sets it", otherwise="their original one"
)
TRANSLATIONS = Setting("REELBENCH_TRANSLATIONS", "file with the translated questions; `run --languages` sets it")
LABEL = Setting("REELBENCH_LABEL", "further condition of a run (`web search`), if you start `lmms-eval` itself")
RUN = Setting("REELBENCH_RUN", "number of this run, of several runs; `run --runs` sets it")
IDS = Setting("REELBENCH_IDS", "file with the ids of the questions to ask; `run --ids` sets it", otherwise="all")
PROGRESS = Setting(
    "REELBENCH_PROGRESS", "folder for the progress of lmms-eval's processes; `run --status-file` sets it"
)
CUES = Setting("REELBENCH_CUES", "file with hints for the questions of `curve_reasoned`; `diagnose run` sets it")
FRAMES_CAP_GB = Setting("REELBENCH_FRAMES_CAP_GB", "maximum size of the frame store, in gigabytes", "20")
JUDGE = Setting("REELBENCH_JUDGE", "model that judges open answers", otherwise="nothing is judged")
JUDGE_URL = Setting("REELBENCH_JUDGE_URL", "OpenAI-compatible server of the judge", otherwise="`OPENAI_BASE_URL`")
JUDGE_API_KEY = Setting(
    "REELBENCH_JUDGE_API_KEY", "key of the judge's server", otherwise="`OPENAI_API_KEY`", secret=True
)
LLM_URL = Setting("REELBENCH_LLM_URL", "server that `--llm` asks", otherwise="`OPENAI_BASE_URL`")
LLM_API_KEY = Setting(
    "REELBENCH_LLM_API_KEY", "key of the server that `--llm` asks", otherwise="`OPENAI_API_KEY`", secret=True
)
OPENAI_BASE_URL = Setting(
    "OPENAI_BASE_URL", "server of models that are named without a server", otherwise="https://api.openai.com/v1"
)
OPENAI_API_KEY = Setting("OPENAI_API_KEY", "key that is used if no `REELBENCH_…` variable sets one", secret=True)
OPENAI_ORG_ID = Setting(
    "OPENAI_ORG_ID", "organization that pays for OpenAI's calls", otherwise="the key's organization"
)
OPENAI_PROJECT_ID = Setting("OPENAI_PROJECT_ID", "project that pays for OpenAI's calls", otherwise="the key's project")
PROVIDERS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("providers.json").read_bytes())
"""Providers of models by the prefix of a model's name; `llm.served` says what of each."""
PROVIDER_KEYS = {
    name: Setting(provider["key"], f"key of {provider['title']}, for `{name}/MODEL`", secret=True)
    for name, provider in PROVIDERS.items()
}
AZURE_OPENAI_ENDPOINT = Setting(
    "AZURE_OPENAI_ENDPOINT", "address of your Azure OpenAI resource (`https://NAME.openai.azure.com`)"
)
SPACY_MODEL = Setting("REELBENCH_SPACY_MODEL", "spaCy model for parse depths, name or folder", "en_core_web_sm")
GITHUB_RAW = Setting(
    "REELBENCH_GITHUB_RAW", "mirror of GitHub's raw files, for official prompts", "https://raw.githubusercontent.com"
)
HF_ENDPOINT = Setting("HF_ENDPOINT", "the Hub, or a mirror of it", otherwise="https://huggingface.co")
HF_HOME = Setting("HF_HOME", "folder of the Hub's client", otherwise="`huggingface` in `XDG_CACHE_HOME`")
HF_HUB_CACHE = Setting("HF_HUB_CACHE", "file cache of the Hub's client", otherwise="`hub` in `HF_HOME`")
HUGGINGFACE_HUB_CACHE = Setting("HUGGINGFACE_HUB_CACHE", "older name of `HF_HUB_CACHE`")
HF_HUB_OFFLINE = Setting("HF_HUB_OFFLINE", "`1`: nothing is fetched from the Hub", otherwise="online")
TRANSFORMERS_OFFLINE = Setting("TRANSFORMERS_OFFLINE", "`1`: nothing is fetched from the Hub", otherwise="online")
WEBHOOK_SECRET = Setting(
    "WEBHOOK_SECRET", "shared secret that the Hub sends with each request to `leaderboard webhook`", secret=True
)
XDG_CONFIG_HOME = Setting(
    "XDG_CONFIG_HOME", "folder of the user's configuration, with `reelbench/reelbench.toml`", "~/.config"
)
XDG_CACHE_HOME = Setting("XDG_CACHE_HOME", "folder of the user's cache", "~/.cache")

FILE_DEFAULTS: dict[str, str] = {}
"""Option -> what a `reelbench.toml` set it to for the command that runs; results record it."""

ALL: tuple[Setting, ...] = tuple(
    {
        setting.name: setting
        for value in (*PROVIDER_KEYS.values(), *globals().values())
        if isinstance(setting := value, Setting)
    }.values()
)
"""In the order above; beside them each benchmark has `data(its id)`."""


def first(*variables: Setting) -> str | None:
    """Return the value of the first of these variables that has one, or None."""
    return next((value for variable in variables if (value := variable.get())), None)


def data(benchmark: str) -> Setting:
    """Return the variable that names the user's own data of a benchmark: a file, or a folder."""
    return Setting(f"REELBENCH_DATA_{benchmark.upper()}", "your own data of this benchmark: a file or a folder")
