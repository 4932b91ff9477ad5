"""Environment variables, each declared once: its name, what it is for, and what holds where it is unset.

Every read of one goes through here; `reelbench settings` lists them, and the README's table is held to this list.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from reelbench.registry.credentials import without_credentials

T = TypeVar("T")


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
        return [Path(part).expanduser() for part in self.get().split(os.pathsep) if part]

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


HOME = Setting("REELBENCH_HOME", "folder of everything that Reelbench keeps", "~/.cache/reelbench")
CACHE = Setting(
    "REELBENCH_CACHE",
    "where language models' replies are kept: a file, or a PostgreSQL database that several machines share "
    "(`postgresql://…`)",
    otherwise="`judge.sqlite` in `REELBENCH_HOME`",
    secret=True,
)
JOB = Setting(
    "REELBENCH_JOB",
    "name of the job whose processes, on whatever machine, count their budgets together",
    otherwise="Slurm's job; else each process counts for itself",
)
SLURM_ARRAY_JOB_ID = Setting("SLURM_ARRAY_JOB_ID", "Slurm's job of an array, which Slurm sets")
SLURM_JOB_ID = Setting("SLURM_JOB_ID", "Slurm's job, likewise")
MEDIA = Setting("REELBENCH_MEDIA", f"folders with your videos, separated by `{os.pathsep}`")
BENCHMARKS = Setting(
    "REELBENCH_BENCHMARKS", f"folders with a `benchmark.yaml`, or with folders of such, separated by `{os.pathsep}`"
)
FRAMES = Setting(
    "REELBENCH_FRAMES", "frames that a model is shown (`uniform:32`), for a bare lmms-eval", otherwise="the task's own"
)
CANDIDATES = Setting(
    "REELBENCH_CANDIDATES",
    "answers to each question (`beam:5`, `sample:5,t=0.7`), for a bare lmms-eval",
    otherwise="one answer",
)
ANSWERING = Setting(
    "REELBENCH_ANSWERING",
    "how `_options` tasks compare options (`options:norm=sum`), for a bare lmms-eval",
    otherwise="`norm=mean`, `over=sentence`, the task's own `span`",
)
LANGUAGE = Setting(
    "REELBENCH_LANGUAGE", "language that questions are put in; `run --languages` sets it", otherwise="their own"
)
TRANSLATIONS = Setting("REELBENCH_TRANSLATIONS", "file with the questions in that language, likewise")
LABEL = Setting("REELBENCH_LABEL", "what else shapes a run's answers (`web search`), for a bare lmms-eval")
RUN = Setting("REELBENCH_RUN", "number of a run among several; `run --runs` sets it")
IDS = Setting(
    "REELBENCH_IDS", "file with the ids of the questions that are asked; `run --ids` sets it", otherwise="all"
)
CUES = Setting("REELBENCH_CUES", "cues of a reasoned task; `diagnose run` sets it")
FRAMES_CAP_GB = Setting("REELBENCH_FRAMES_CAP_GB", "size of the store of frames, in gigabytes", "20")
JUDGE = Setting("REELBENCH_JUDGE", "model that judges open answers", otherwise="nothing is judged")
JUDGE_URL = Setting("REELBENCH_JUDGE_URL", "the judge's OpenAI-compatible server", otherwise="`OPENAI_BASE_URL`")
JUDGE_API_KEY = Setting("REELBENCH_JUDGE_API_KEY", "key of its server", otherwise="`OPENAI_API_KEY`", secret=True)
LLM_URL = Setting("REELBENCH_LLM_URL", "server that `--llm` asks", otherwise="`OPENAI_BASE_URL`")
LLM_API_KEY = Setting(
    "REELBENCH_LLM_API_KEY", "key of the server that `--llm` asks", otherwise="`OPENAI_API_KEY`", secret=True
)
OPENAI_BASE_URL = Setting(
    "OPENAI_BASE_URL", "server of a model that was named without one", otherwise="https://api.openai.com/v1"
)
OPENAI_API_KEY = Setting("OPENAI_API_KEY", "key where no variable of ours gives one", secret=True)
OPENAI_ORG_ID = Setting("OPENAI_ORG_ID", "organization that OpenAI's calls are billed to", otherwise="the key's own")
OPENAI_PROJECT_ID = Setting("OPENAI_PROJECT_ID", "project that they are billed to", otherwise="the key's own")
SPACY_MODEL = Setting("REELBENCH_SPACY_MODEL", "spaCy model for parse depths, name or folder", "en_core_web_sm")
GITHUB_RAW = Setting(
    "REELBENCH_GITHUB_RAW", "mirror of GitHub's raw files, for official prompts", "https://raw.githubusercontent.com"
)
HF_ENDPOINT = Setting("HF_ENDPOINT", "the Hub, or a mirror of it", otherwise="https://huggingface.co")
HF_HOME = Setting("HF_HOME", "folder of the Hub's client", otherwise="`huggingface` in `XDG_CACHE_HOME`")
HF_HUB_CACHE = Setting("HF_HUB_CACHE", "its file cache", otherwise="`hub` in `HF_HOME`")
HUGGINGFACE_HUB_CACHE = Setting("HUGGINGFACE_HUB_CACHE", "the older name of `HF_HUB_CACHE`")
HF_HUB_OFFLINE = Setting("HF_HUB_OFFLINE", "`1`: nothing is fetched from the Hub", otherwise="online")
TRANSFORMERS_OFFLINE = Setting("TRANSFORMERS_OFFLINE", "likewise", otherwise="online")
WEBHOOK_SECRET = Setting("WEBHOOK_SECRET", "what the Hub sends along to `leaderboard webhook`", secret=True)
XDG_CONFIG_HOME = Setting("XDG_CONFIG_HOME", "the user's configuration; `reelbench/reelbench.toml` in it", "~/.config")
XDG_CACHE_HOME = Setting("XDG_CACHE_HOME", "the user's cache", "~/.cache")

FILE_DEFAULTS: dict[str, str] = {}
"""Option -> what a `reelbench.toml` set it to for the command that runs; results record it."""

ALL: tuple[Setting, ...] = tuple(value for value in tuple(globals().values()) if isinstance(value, Setting))
"""In the order above; beside them each benchmark has `data(its id)`."""


def first(*variables: Setting) -> str | None:
    """Return the value of the first of these variables that has one, or None."""
    return next((value for variable in variables if (value := variable.get())), None)


def data(benchmark: str) -> Setting:
    """Return the variable that names the user's own data of a benchmark: a file, or a folder."""
    return Setting(f"REELBENCH_DATA_{benchmark.upper()}", "your own data of that benchmark, a file or a folder")
