"""The tests; a package so that `tests.servers` is ours, whatever else is installed as `tests`."""
