"""A checkpoint on a machine without a GPU: one line, before lmms-eval starts."""

from types import SimpleNamespace

import pytest

from reelbench.base.errors import InputError
from reelbench.tasks.lmms import accelerator

CHECKPOINT = ["--model", "qwen2_5_vl", "--model_args", "pretrained=org/model,max_pixels=1"]


@pytest.fixture
def gpu(tmp_path, monkeypatch):
    """Let this machine be a Linux without a GPU; its file, once written, is one."""
    monkeypatch.setattr(accelerator, "sys", SimpleNamespace(platform="linux"))
    monkeypatch.setattr(accelerator, "DEVICES", (str(tmp_path / "gpu"),))
    return tmp_path / "gpu"


def test_it_is_told_how_to_run_without_one(gpu):
    with pytest.raises(InputError, match=r"org/model: this machine has no GPU.*device=cpu"):
        accelerator.check(CHECKPOINT)
    gpu.touch()
    accelerator.check(CHECKPOINT)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    "arguments",
    [
        [*CHECKPOINT[:-1], "pretrained=org/model,device=cpu"],
        [*CHECKPOINT[:-1], "pretrained=org/model,device_map=cpu"],
        [*CHECKPOINT, "--device", "cpu"],
        ["--model", "openai", "--model_args", "model=m,base_url=http://127.0.0.1:9/v1"],
        ["--model", "reelbench_baseline"],
    ],
)
def test_whoever_names_a_device_or_has_no_checkpoint_goes_on(arguments):
    accelerator.check(arguments)


@pytest.mark.usefixtures("gpu")
def test_a_mac_has_one_of_another_kind(monkeypatch):
    monkeypatch.setattr(accelerator, "sys", SimpleNamespace(platform="darwin"))
    accelerator.check(CHECKPOINT)
