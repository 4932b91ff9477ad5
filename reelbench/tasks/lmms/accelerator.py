"""Whether this machine has a GPU, known before lmms-eval loads anything."""

import sys
from collections.abc import Sequence
from pathlib import Path

from reelbench.base.errors import InputError
from reelbench.tasks.lmms import adapters
from reelbench.tasks.lmms.process import option_value

DEVICES = ("/dev/nvidiactl", "/dev/nvidia0", "/dev/nvmap", "/dev/kfd", "/dev/dxg")
"""What Linux has for a GPU of NVIDIA (the third on a Jetson), of AMD, and in Windows' WSL."""


def check(arguments: Sequence[str]) -> None:
    """Check that a checkpoint has a GPU, or is told to run without one.

    lmms-eval's adapters ask for CUDA unless they are given a device, and fail after half a minute.
    Linux alone is looked at: a Mac has a GPU of another kind, which an adapter must be told anyway.

    Raises:
        InputError: There is no GPU, and nothing says where the checkpoint runs.
    """
    if sys.platform != "linux" or any(Path(device).exists() for device in DEVICES):
        return
    model_args = adapters.values_in(option_value(arguments, "--model_args"))
    is_checkpoint = "pretrained" in model_args
    has_device = not model_args.keys().isdisjoint({"device", "device_map"})
    if is_checkpoint and not has_device and option_value(arguments, "--device") is None:
        raise InputError(
            f"{model_args['pretrained']}: this machine has no GPU; to run the checkpoint on the "
            "CPU, which is slow, add --model-args device=cpu,device_map=cpu; a server that"
            " has the model needs no GPU here: --base-url URL"
        )
