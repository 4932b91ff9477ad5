"""`reelbench eval`: one verb for served models and checkpoints.

Who serves the model decides: a server is asked as by `ask`, a checkpoint is run as by `run`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import read_record
from reelbench.cli.ask import AskCommandOptions, ask_model
from reelbench.cli.run import RunCommandOptions, run_checkpoint
from reelbench.terminal import console
from reelbench.terminal.asking_options import (
    LlmUrl,
    ModelName,
    RequestOptions,
    extra_of,
    served_model,
)
from reelbench.terminal.option_groups import (
    Kind,
    Names,
    model_names,
    option_name,
    options_given,
    options_of,
    reports_status,
    shell_line,
    typed_parameters,
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

_ASK_OPTIONS = frozenset(("frames", *options_of(AskCommandOptions)))
_RUN_OPTIONS = frozenset(("frames", *options_of(RunCommandOptions)))

_OF_CHECKPOINTS = (_RUN_OPTIONS - _ASK_OPTIONS) | {"llm"}
"""Options that a served model doesn't take: `--model` names it."""

_OF_LMMS_EVAL = frozenset(("limit", "llm_extra", "output", "plan"))
"""Options of `ask` that a checkpoint takes too: lmms-eval has them under other names."""


@dataclass(frozen=True, slots=True)
class _Checkpoints:
    """The checkpoints to run, as they were typed: models, their adapter, its arguments."""

    models: list[str]
    adapter: str | None
    model_args: str


@reports_status
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
    name: ModelName = None,
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
            help="Frames that the model is shown: 64; 0,8,32 once with each; or as `ask` and "
            "`run` take them.",
        ),
        Kind.FRAMES,
    ] = None,
    llm_url: LlmUrl = None,
    requests: RequestOptions,
    asking: AskCommandOptions,
    running: RunCommandOptions,
) -> None:
    """Evaluate models on benchmarks.

    Asks a model on a server, or runs a checkpoint through lmms-eval, and scores the answers. A
    model is `provider/model`, any name with --base-url, or a checkpoint: a folder or a Hub name,
    for which the `run` line used is printed. All options of `ask` or `run` are taken. Several
    models have a folder each in --output.
    """
    base_url = base_url or llm_url
    checkpoints = _models_and_adapter(model, adapter, model_args)
    if base_url:
        # A name is as its server has it: a folder of that name here changes nothing.
        _refuse_checkpoint_options(adapter, model_args)
        checkpoints = _Checkpoints(list(model), None, "")
    if name is not None and len(checkpoints.models) > 1:
        raise InputError("--name: names one model; run several separately")
    folders = _output_folders(checkpoints.models, asking.output)
    running = replace(running, name=name)
    same_command = ["reelbench", "eval", *options_given(context)]
    failures: list[str] = []
    for typed_model in checkpoints.models:
        found_adapter = None
        if not base_url:
            found_adapter = _adapter_of_checkpoint(typed_model, checkpoints.adapter)
        try:
            if found_adapter is None:
                _check_options(context, typed_model, "a served model", _OF_CHECKPOINTS)
                served = served_model(typed_model, name, base_url, requests)
                of_model = replace(asking, llm=served, output=folders[typed_model])
                ask_model(names, frames, of_model, same_command=same_command)
            else:
                tasks = ",".join(map(_lmms_eval_task, names))
                lmms_eval_arguments = ["--tasks", tasks, "--model", found_adapter]
                lmms_eval_arguments += _model_arguments(
                    typed_model, checkpoints, asking, requests, folders[typed_model]
                )
                _print_run_line(context, typed_model, lmms_eval_arguments, quiet=running.quiet)
                if not asking.plan:
                    judging = options_given(context, only="judge", for_people=False)
                    run_checkpoint(lmms_eval_arguments, frames, running, judging=judging)
        except InputError:
            raise
        except (ReelbenchError, typer.Exit) as error:
            failures.append(
                _failure_line(typed_model, error, of_several=len(checkpoints.models) > 1)
            )
    if failures:
        raise ReelbenchError("; ".join(failures))


def _refuse_checkpoint_options(adapter: str | None, model_args: Sequence[str] | None) -> None:
    """Raise InputError where a served model is given options of a checkpoint."""
    for option, value in {"--adapter": adapter, "--model-args": model_args}.items():
        if value:
            raise InputError(
                f"{option}: is for a checkpoint, and with --base-url a server has the model; leave "
                "one of them out"
            )


def _models_and_adapter(
    typed_models: Sequence[str], adapter: str | None, model_args: Sequence[str] | None
) -> _Checkpoints:
    """Return the models, and the adapter with its arguments.

    lmms-eval's words for a checkpoint, `--model ADAPTER --model-args pretrained=PATH`, are taken.
    """
    models = [name for name in ",".join(typed_models).split(",") if name]
    arguments = ",".join(model_args or ())
    value_of_argument: dict[str, str] = {}
    for argument in arguments.split(","):
        key, _, value = argument.partition("=")
        value_of_argument[key] = value
    is_adapter = len(models) == 1 and "/" not in models[0]
    if not is_adapter or "pretrained" not in value_of_argument:
        return _Checkpoints(models, adapter, arguments)
    if models[0] != "hf":
        adapter = adapter or models[0]
    checkpoint = value_of_argument.pop("pretrained")
    arguments = ",".join(f"{key}={value}" for key, value in value_of_argument.items())
    return _Checkpoints([checkpoint], adapter, arguments)


def _output_folders(models: Sequence[str], output: Path | None) -> dict[str, Path | None]:
    """Return the output folder of each model; of several each has its own in `output`.

    Raises:
        InputError: Two models have one folder.
    """
    if output is None or len(models) == 1:
        return dict.fromkeys(models, output)
    folders: dict[str, Path | None] = {}
    folder_names: set[str] = set()
    for name in models:
        folder_name = re.sub(r"[^\w.-]+", "-", name).strip("-.")
        folders[name] = output / folder_name
        folder_names.add(folder_name.casefold())
    if len(folder_names) < len(models):
        raise InputError(
            f"--model {', '.join(models)}: two of them share a folder in --output; run them "
            "separately"
        )
    return folders


def _check_options(
    context: typer.Context, model: str, what: str, not_taken: "frozenset[str]"
) -> None:
    """Raise InputError where an option was typed that this kind of model doesn't take."""
    for parameter in typed_parameters(context):
        if parameter.name in not_taken and parameter.name == "frames_sweep":
            raise InputError(f"--frames-sweep: {what} takes --frames 0,8,32 instead")
        if parameter.name in not_taken:
            raise InputError(
                f"{option_name(parameter)}: {model} is {what}, which has no such option; leave it "
                "out"
            )


def _model_arguments(
    name: str,
    checkpoints: _Checkpoints,
    asking: AskCommandOptions,
    requests: RequestOptions,
    folder: Path | None,
) -> list[str]:
    """Return lmms-eval's arguments of a checkpoint.

    They are its place, its settings and its output folder.
    """
    model_args = f"pretrained={_plain_model_name(name)}"
    if checkpoints.model_args:
        model_args = f"{model_args},{checkpoints.model_args}"
    extra = extra_of("--llm-extra", requests.llm_extra)
    generation = ",".join(f"{key}={value}" for key, value in extra.items())
    values = {
        "--output_path": folder,
        "--limit": asking.limit,
        "--model_args": model_args,
        "--gen_kwargs": generation,
    }
    arguments: list[str] = []
    for option, value in values.items():
        if value:
            arguments += [option, str(value)]
    return arguments


def _print_run_line(
    context: typer.Context, model: str, lmms_eval_arguments: list[str], *, quiet: bool
) -> None:
    """Print the `reelbench run` of a checkpoint, whose options are checked.

    Raises:
        InputError: An option was typed that a checkpoint doesn't take.
    """
    only_asked = _ASK_OPTIONS - _RUN_OPTIONS - _OF_LMMS_EVAL
    _check_options(context, model, "a checkpoint", only_asked)
    not_of_run = {parameter.name or "" for parameter in context.command.params} - _RUN_OPTIONS
    # What a file sets for `eval` it doesn't set for `run`.
    run_options = options_given(
        context, leave_out=not_of_run | {"llm_extra"}, for_people=False, from_files=True
    )
    note = console.note_unless(quiet=quiet)
    note(shell_line(["reelbench", "run", *run_options, "--", *lmms_eval_arguments]))


def _failure_line(model: str, error: Exception, *, of_several: bool) -> str:
    """Return a line on a model that failed."""
    if isinstance(error, typer.Exit):
        return f"{model} failed"
    if of_several:
        return f"{model}: {error}"
    return str(error)


def _plain_model_name(model: str) -> str:
    """Return a model's name without the prefix that says it is the Hub's."""
    return model.removeprefix("hf/").removeprefix("hf:")


def _adapter_of_checkpoint(model: str, adapter: str | None) -> str | None:
    """Return lmms-eval's adapter of a checkpoint, or None for a model that a server has.

    That is where no server was named beside it.

    Raises:
        InputError: Nothing tells which of the two it is, or which adapter runs it.
    """
    if adapter is not None:
        return adapter
    if "@http://" in model or "@https://" in model:
        return None
    folder = settings.with_home_expanded(_plain_model_name(model))
    is_path = model.startswith((".", "/", "~"))
    url = settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL)
    if folder.is_dir() and not is_path:
        # A folder's code would run, and its name may be a model's.
        raise InputError(
            f"--model {model}: there is also a folder of this name here; write "
            f"./{_plain_model_name(model)} or --base-url URL"
        )
    if model in _ADAPTERS.values() and not url:
        raise InputError(
            f"--model {model}: is the name of an lmms-eval adapter; name the checkpoint: --model "
            f"Qwen/Qwen2.5-VL-7B-Instruct, say, and --adapter {model} if you want that one; a "
            "server's model of this name: --base-url URL"
        )
    is_of_the_hub = model.startswith(("hf/", "hf:"))
    is_served = url or "://" in model or "/" not in model or _is_of_provider(model)
    if is_served and not is_path and not is_of_the_hub:
        return None
    model_type = _plain_model_name(model).rpartition("/")[2]
    if is_path:
        model_type = _model_type(model, folder / "config.json")
    plain_type = re.sub(r"[-.]", "_", model_type.lower())
    for pattern, name in _ADAPTERS.items():
        if re.search(pattern, plain_type):
            return name
    raise InputError(
        f"--model {model}: no lmms-eval adapter is known for this checkpoint "
        f"({model_type}); name one, for example --adapter llava_hf; or, if a server has the model, "
        "add --base-url URL"
    )


def _is_of_provider(model: str) -> bool:
    """Return True for `provider/model` of a known provider."""
    from reelbench.llm.model_names import PROVIDERS

    prefix, slash, _ = model.partition("/")
    aliases = [provider.alias for provider in PROVIDERS.values()]
    return bool(slash) and (prefix in PROVIDERS or prefix in aliases)


def _model_type(model: str, config: Path) -> str:
    """Return the type of a checkpoint, as its config has it."""
    if not config.is_file():
        raise InputError(f"--model {model}: no folder with a checkpoint (no config.json there)")
    record = read_record(config) or {}
    return str(record.get("model_type"))


def _lmms_eval_task(name: str) -> str:
    """Return lmms-eval's task of a benchmark's name."""
    from reelbench.data import loading
    from reelbench.registry import discovery

    if discovery.find_task(name) is not None:
        return name
    spec, split, _ = loading.find_split(name)
    for task in spec.tasks:
        if task.split == split and not task.only:
            return task.name
    return spec.tasks[0].name
