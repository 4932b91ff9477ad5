"""`RowsOnDisk`: a benchmark's rows as a path that appears when it is opened.

lmms-eval's YAML names a dataset by path; this object is that path. Opening it (`__fspath__`) materialises the rows, so
one YAML serves simple and chat models, the command line and Python, with no loader of lmms-eval's to patch.
"""

import os

from reelbench.registry.errors import ReelbenchError


class RowsOnDisk(os.PathLike[str]):
    """The folder with a task's rows as a saved `datasets.DatasetDict`, made on first use."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.media_missing = 0
        """Rows left out because their video is not here; set when the task is loaded."""
        self.problem: str | None = None
        """Why the task can't be run although its rows are here, in one line; set when the task is loaded."""
        self._failure: ReelbenchError | None = None

    def ready(self) -> str | None:
        """Try anew to have the rows here; return why they can't be had, in one line, or None."""
        self._failure = self.problem = None
        try:
            self.__fspath__()
        except ReelbenchError as error:
            return str(error)
        return None

    def __fspath__(self) -> str:
        """Return the folder; raises the same one-line error each time where the data can't be had."""
        from reelbench.registry.data.loading import locate

        # lmms-eval tries a failing load five times and then hides the reason: remember it, so that the retries cost
        # nothing and whoever reports it can.
        if self._failure is not None:
            raise self._failure
        try:
            return str(locate(self.task).materialise())
        except ReelbenchError as error:
            self._failure = error
            raise

    def __str__(self) -> str:
        """Name the data and how its frames are sampled: what lmms-eval's response cache tells settings apart by."""
        from reelbench.registry.data.loading import locate

        try:
            fingerprint = locate(self.task).source.fingerprint[:16]
        except ReelbenchError:
            fingerprint = "unavailable"
        return f"reelbench:{self.task}@{fingerprint};media_missing={self.media_missing}{_frames()}"

    __repr__ = __str__


def _frames() -> str:
    """Return the sampling that the environment asks for; one in a task's YAML is in lmms-eval's config by itself."""
    from reelbench.registry.frames import asked
    from reelbench.registry.frames.store import ENCODER_VERSION

    try:
        sampling = asked.from_environment()
    except ReelbenchError:
        return ";frames=invalid"
    if sampling is None:
        return ""
    return f";frames={sampling}" + (f";encoder={ENCODER_VERSION}" if sampling.decodes else "")
