"""What every test may count on: a Reelbench home of its own, no network by accident, a tiny model, a real browser."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.alarms import LIMIT_S, SLOW_LIMIT_S, limited
from tests.forks import NO_NETWORK, Forks, write_without_waiting

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(
    0, str(ROOT)
)  # `tests.servers` and `tools` are importable, whatever pytest was started from

_SETTINGS = (
    *(
        "REELBENCH_DATA_",
        "REELBENCH_JUDGE",
        "REELBENCH_MEDIA",
        "REELBENCH_FRAMES",
        "REELBENCH_CANDIDATES",
        "OPENAI_",
    ),
    *("REELBENCH_ANSWERING", "REELBENCH_CACHE", "REELBENCH_JOB", "SLURM_", "PG"),
)
# Read by huggingface_hub and transformers when they are imported, so set before any test imports
# them.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Tiny models are computed by one thread: several wait for each other busily, and each test process
# has as many as there are cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# qwen_vl_utils prefers a torchcodec that is installed, even one that can't find its FFmpeg
# libraries.
os.environ.setdefault("FORCE_QWENVL_VIDEO_READER", "decord")
# Jobs that a shell puts in the background ignore Ctrl-C, and so does what they start; tests
# interrupt what they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


write_without_waiting()

SLOW_KINDS = ("lmms", "browser", "java")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let the collector of garbage pass over what is collected: ten thousand tests and their modules, which stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(config, items):
    """Begin with the files that take longest, and leave out what is slow, unless marks were asked for.

    What starts lmms-eval, a browser or Java is slow by its kind; a `representative` of the kind is
    not.
    """
    for item in items:
        by_kind = any(item.get_closest_marker(kind) for kind in SLOW_KINDS)
        if by_kind and not item.get_closest_marker("representative"):
            item.add_marker("slow")
    whole = ROOT / "tests"  # files of no room: of whole processes, and what they leave
    items.sort(
        key=lambda item: (item.get_closest_marker("lmms") is None, item.path.parent != whole)
    )
    if config.option.markexpr:
        return
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("slow")])
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Let no test hang the suite: it fails by its name, and says where it stood."""
    with limited(SLOW_LIMIT_S if item.get_closest_marker("slow") else LIMIT_S):
        return (yield)


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory):
    """A home for the whole session: mini clips and overlap scores are made once, as they are for a user."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def reelbench_home(tmp_path, monkeypatch, request, shared_home):
    """A fresh home for each test, except for those marked lmms, which share one."""
    home = shared_home if request.node.get_closest_marker("lmms") else tmp_path / "home"
    monkeypatch.setenv("REELBENCH_HOME", str(home))
    for name in list(os.environ):
        if name.startswith(_SETTINGS):
            monkeypatch.delenv(name)
    return home


@pytest.fixture(autouse=True)
def before_any_run(monkeypatch):
    """Nothing stays known of what another test's lmms-eval ran in this process."""
    from reelbench.tasks.lmms import adapters

    monkeypatch.setattr(adapters, "running", None)
    monkeypatch.setattr(adapters, "passes_video", False)


@pytest.fixture(autouse=True)
def own_benchmarks_apart(monkeypatch):
    """What a test declares by a file of its own is not known to the next."""
    from reelbench.registry import discovery

    monkeypatch.setattr(discovery, "_registry", discovery.registry())


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """The local Hub, on which a museum's curator is logged in."""
    from tests.servers.hub import HubServer, Token

    with HubServer() as server:
        server.use(monkeypatch, tmp_path / "hf")
        server.tokens["hf_museum"] = Token("curator", orgs=("museum",))
        server.tokens["hf_reader"] = Token("curator", role="read", orgs=("museum",))
        server.tokens["hf_visitor"] = Token("visitor")
        server.tokens["hf_bot"] = Token("bot")
        monkeypatch.setenv("HF_TOKEN", "hf_museum")
        yield server


@pytest.fixture(scope="session")
def forks(tmp_path_factory):
    """What starts the command without its imports, for all workers."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    server = Forks(folder / "forks")
    yield server
    server.close()


@pytest.fixture(scope="session")
def program(forks, tmp_path_factory):
    """The installed `reelbench` for tests that start it themselves, and signal it: without its imports."""
    return forks.program(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="session")
def python(forks, tmp_path_factory):
    """A `python -c` and `python -m` that have imported what the command needs."""
    return forks.program(tmp_path_factory.mktemp("python"), "python")


@pytest.fixture
def reelbench(forks):
    """Run the installed `reelbench` command as a user would; returns the finished process, its output as text."""

    def run(*arguments, cwd=None, env=None, timeout=1800):
        environment = {**os.environ, "COLUMNS": "160", **(env or {})}
        if (done := forks.run([*map(str, arguments)], cwd, environment, timeout)) is not None:
            return done
        command = [Path(sys.executable).with_name("reelbench"), *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            check=False,
        )

    return run


@pytest.fixture
def score(reelbench):
    """Run `reelbench score … --json`; returns the parsed JSON, after asserting success."""

    def run(*arguments, **options):
        done = reelbench("score", *arguments, "--json", **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def tiny_vlm(tmp_path_factory):
    """A real Qwen2.5-VL checkpoint of under 1 MB."""
    from tools.tiny_vlm import write

    return write(tmp_path_factory.mktemp("model") / "tiny-vlm")


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of the session's own."""
    from tests.servers.postgres import WHY_NOT, PostgresServer, programs

    pytest.importorskip("psycopg", reason="psycopg is not installed (reelbench[postgres])")
    if programs() is None:
        pytest.skip(WHY_NOT)
    with PostgresServer() as server:
        yield server


@pytest.fixture
def slurm(monkeypatch):
    """A Slurm of two nodes on this machine, to which whoever is started submits."""
    from tests.servers.slurm import Slurm, why_not

    if reason := why_not():
        pytest.skip(reason)
    with Slurm() as cluster:
        for name, value in cluster.environ.items():
            monkeypatch.setenv(name, value)
        yield cluster


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder with this checkout's sdist and the wheel that was built from it: `REELBENCH_DIST`'s, or new ones."""
    if dist := os.environ.get("REELBENCH_DIST"):
        return (ROOT / dist).resolve()
    out = tmp_path_factory.mktemp("built")
    shutil.rmtree(
        ROOT / "build", ignore_errors=True
    )  # setuptools would pack what an earlier build left there
    command = [sys.executable, "-m", "uv", "build", "--quiet", "--out-dir", out, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="session")
def shared_data():
    """The folder with the authors' real files beside the repository, where it is there."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the authors' ground truth (../shared/data) is not beside this checkout")
    return folder


@pytest.fixture
def network_asked(tmp_path, monkeypatch):
    """Forbid the network to what `reelbench` runs; returns the file that lists who asked for it all the same."""
    asked = tmp_path / "asked.txt"
    monkeypatch.setenv(NO_NETWORK, str(asked))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    return asked


BROWSER_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(
    scope="module"
)  # not the session: while it is open, no other test in this process can run a loop
def chromium():
    """A real browser; skipped where there is none, but never in CI."""
    from tools.setup_browser import browser as installed

    path = installed()
    if path is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("no Chromium in CI; tools/setup_browser.py installs it")
        pytest.skip("no Chromium here; tools/setup_browser.py says how to get it")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(
        timeout=60_000
    )  # for a busy machine; what is there at once is not waited for
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def checkers():
    """The folder with axe-core and html-validate; skipped where npm could not install them, but never in CI."""
    folder = ROOT / ".node" / "node_modules"
    if (
        not (folder / "axe-core" / "axe.min.js").is_file()
        or not (folder / "html-validate").is_dir()
    ):
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(
                "no axe-core and html-validate in CI; tools/setup_checkers.py installs them"
            )
        pytest.skip(
            "axe-core and html-validate are not here; tools/setup_checkers.py installs them with npm"
        )
    return folder
