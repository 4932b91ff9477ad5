"""Videos on this machine: where they lie, whether they play, and the mini clips that we draw ourselves."""
