"""`reelbench eval`: one verb. Who serves the model decides: a server is asked as by `ask`, a checkpoint by `run`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import read_record
from reelbench.terminal import console
from reelbench.terminal.asking_options import GROUPS, extra_of
from reelbench.terminal.option_groups import (
    Json,
    Kind,
    Names,
    Quiet,
    handed_on,
    model_names,
    options_given,
    shell_line,
)

_ADAPTERS = {
    "qwen3_5": "qwen3_5",
    "qwen3_omni": "qwen3_omni",
    "qwen3_vl": "qwen3_vl",
    "qwen2_5_omni": "qwen2_5_omni",
    "qwen2_5_vl": "qwen2_5_vl",
    "qwen2_vl": "qwen2_vl",
    "internvl.*_hf": "internvl_hf",
    "internvl3": "internvl3",
    "internvl": "internvl2",
    "gemma_?4": "gemma4",
    "gemma_?3": "gemma3",
    "llava_onevision_?1_?5": "llava_onevision1_5",
    "llava_onevision.*_hf|llava_.*_hf|llava_next|^llava$": "llava_hf",
    "llava_onevision": "llava_onevision",
    "videollama_?3": "videollama3",
    "minicpm_?v": "minicpm_v",
    "minicpm_?o": "minicpm_o",
    "longva": "longva",
    "idefics": "idefics2",
    "mllama|llama_3_2.*vision": "llama_vision",
    "lfm2_5_vl|lfm2_vl": "lfm2_5_vl",
    "phi_?4_?multimodal|phi_4_multimodal": "phi4_multimodal",
}
"""Pattern of a checkpoint's name, or of the `model_type` in its config -> lmms-eval's adapter."""

_TYPED = {"reelbench ask ": "reelbench eval ", "--llm-url": "--base-url", "--llm ": "--model "}


def evaluate(
    context: typer.Context,
    names: Names,
    *,
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            metavar="MODEL",
            help="provider/model, a server's name for it with --base-url, a "
            "checkpoint's folder or name (repeat).",
            autocompletion=model_names,
        ),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url", metavar="URL", help="OpenAI-compatible server that has the model."
        ),
    ] = None,
    adapter: Annotated[
        str | None,
        typer.Option(
            "--adapter",
            metavar="NAME",
            help="lmms-eval's adapter of a checkpoint; default: by its name or config.",
        ),
    ] = None,
    model_args: Annotated[
        list[str] | None,
        typer.Option(
            "--model-args",
            metavar="K=V,…",
            help="Further arguments of the adapter, as lmms-eval's --model_args: device=cpu.",
        ),
    ] = None,
    frames: Annotated[
        str | None,
        typer.Option(
            "--frames",
            metavar="SPEC",
            help="Frames that the model is shown: 64, or as `ask` and `run` take them.",
        ),
        Kind.FRAMES,
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Only the first N questions of each benchmark."),
        Kind.LIMIT,
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", help="Output folder; each benchmark's result gets a folder in it."
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Count questions, videos and requests, and ask nothing.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    options: Annotated[None, handed_on(*GROUPS, without=("llm", "llm_url"))],
) -> None:
    """Evaluate models on benchmarks: a served one as `ask` does it, a checkpoint through lmms-eval as `run` does.

    A model is `provider/model`, a name with --base-url, or a checkpoint: a folder, or a name of the
    Hub's, whose `run` is printed. All options of `ask` or `run` are taken. Several models have a
    folder each in --output.
    """
    del frames, as_json, options  # handed on
    typed = options_given(
        context,
        leave_out=("names", "model", "base_url", "adapter", "model_args", "output"),
        shown=False,
    )
    models = [part for text in model for part in text.split(",") if part]
    loading = ",".join(model_args or ())
    inner = {part.partition("=")[0]: part.partition("=")[2] for part in loading.split(",")}
    if (
        len(models) == 1 and "/" not in models[0] and "pretrained" in inner
    ):  # lmms-eval's words for a checkpoint
        adapter = adapter or (models[0] if models[0] != "hf" else None)
        models, loading = (
            [inner.pop("pretrained")],
            ",".join(f"{name}={value}" for name, value in inner.items()),
        )
    extra = extra_of("--llm-extra", context.params["llm_extra"])
    generation = ",".join(f"{name}={value}" for name, value in extra.items())
    failed = []
    places = {one: re.sub(r"[^\w.-]+", "-", one).strip("-.") for one in models}
    if output and len({place.casefold() for place in places.values()}) < len(models):
        raise InputError(
            f"--model {', '.join(models)}: two of them have one folder in --output; run them apart"
        )
    for one in models:
        folder = output / places[one] if output and len(models) > 1 else output
        if (of_lmms_eval := _adapter(one, base_url, adapter)) is None:
            place = ["--output", str(folder)] if folder else []
            words = [
                "ask",
                *names,
                "--llm",
                one,
                *(["--llm-url", base_url] if base_url else []),
                *typed,
                *place,
            ]
        else:
            loaded = ",".join(filter(None, [f"pretrained={_plain(one)}", loading]))
            there = {
                "--output_path": folder,
                "--limit": limit,
                "--model_args": loaded,
                "--gen_kwargs": generation,
            }
            behind = [part for name, value in there.items() if value for part in (name, str(value))]
            apart = (
                "names",
                "model",
                "base_url",
                "adapter",
                "model_args",
                "output",
                "limit",
                "llm_extra",
                "plan",
            )
            ours = options_given(context, leave_out=apart, shown=False)
            words = [
                "run",
                *ours,
                "--",
                "--tasks",
                ",".join(map(_task, names)),
                "--model",
                of_lmms_eval,
                *behind,
            ]
        if of_lmms_eval is not None:
            console.note_unless(quiet=quiet)(shell_line(["reelbench", *words]))
            if plan:
                continue
        try:
            from reelbench.cli.program import assembled

            console.renamed = {} if of_lmms_eval else _TYPED
            if typer.main.get_command(assembled(words[0]))(words, standalone_mode=False):
                failed.append(f"{one} failed")
        except ReelbenchError as error:
            if isinstance(error, InputError):
                raise
            failed.append(f"{one}: {error}" if len(models) > 1 else str(error))
    if failed:
        raise ReelbenchError("; ".join(failed))


def _plain(model: str) -> str:
    return model.removeprefix("hf/").removeprefix("hf:")


def _adapter(model: str, base_url: str | None, adapter: str | None) -> str | None:
    """Return lmms-eval's adapter of a checkpoint, None of a model that a server has; InputError where nothing tells."""
    from reelbench.llm.model_names import PROVIDERS

    prefix, slash, _ = model.partition("/")
    of_provider = slash and any(
        prefix in {name, provider.alias} for name, provider in PROVIDERS.items()
    )
    folder = settings.expanded(_plain(model))
    a_folder = model.startswith((".", "/", "~"))
    url = base_url or settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL)
    asked = url or "://" in model or of_provider or not slash
    if adapter is not None:
        return adapter
    if (
        folder.is_dir() and not a_folder and not base_url
    ):  # a folder's code would run; its name may be a model's
        raise InputError(
            f"--model {model}: a folder of this name lies here, too; write ./{_plain(model)} or --base-url URL"
        )
    if model in _ADAPTERS.values() and not url:
        raise InputError(
            f"--model {model}: is an adapter of lmms-eval's; name the checkpoint: --model Qwen/Qwen2.5-VL-7B-Instruct, "
            f"say, and --adapter {model} if you want that one; a server's model of this name: --base-url URL"
        )
    if asked and not a_folder and not model.startswith(("hf/", "hf:")):
        return None
    config = folder / "config.json"
    if a_folder and not config.is_file():
        raise InputError(f"--model {model}: no folder with a checkpoint (no config.json there)")
    told = (
        str((read_record(config) or {}).get("model_type"))
        if a_folder
        else _plain(model).rpartition("/")[2]
    )
    plain = re.sub(r"[-.]", "_", told.lower())
    found = next((name for pattern, name in _ADAPTERS.items() if re.search(pattern, plain)), None)
    if found is None:
        raise InputError(
            f"--model {model}: which adapter of lmms-eval runs this checkpoint isn't known ({told}); name one, for "
            f"example --adapter llava_hf; or, if a server has the model, add --base-url URL"
        )
    return found


def _task(name: str) -> str:
    """Return lmms-eval's task of a benchmark's name."""
    from reelbench.data import loading
    from reelbench.registry import discovery

    if discovery.find_task(name) is not None:
        return name
    spec, split, _ = loading.find_split(name)
    return next(
        (task.name for task in spec.tasks if task.split == split and not task.only),
        spec.tasks[0].name,
    )
