"""Build the site of a store, unless nothing changed since this machine built it.

To see that nothing changed takes less time than to load what makes a site, which is therefore
loaded only where something did.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from reelbench.base.workers import ALONE, Workers
from reelbench.leaderboard import site_state
from reelbench.leaderboard.checked_files import CheckedFiles
from reelbench.leaderboard.site_state import BuildOptions, Summary

log = logging.getLogger("reelbench")


def build_changed(
    store: Path,
    out: Path,
    options: BuildOptions,
    *,
    workers: Workers = ALONE,
    note: Callable[[str], None] = log.info,
) -> Summary:
    """Write the site as `site.build` does, unless nothing changed since this machine wrote it.

    Returns:
        What is said of the site.
    """
    checked = CheckedFiles(store)
    inputs = site_state.inputs_of(store, checked.states, options)
    state = site_state.read(out)
    if state is not None and state.inputs == inputs and state.is_whole(out):
        note(f"{out}: nothing changed since it was built")
        return state.summary
    from reelbench.leaderboard import site

    built = site.build_over(store, out, options, checked=checked, workers=workers, note=note)
    if built.follows_from_store:
        site_state.write(out, inputs, built.runs, built.summary)
    else:
        site_state.forget(out)
    return built.summary
