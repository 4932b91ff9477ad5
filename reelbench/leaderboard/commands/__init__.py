"""The board's commands: thin, everything heavy imported inside a command; `options.json` has their options' words."""

from pathlib import Path

from reelbench.cli.option_groups import options_in

board_option = options_in(Path(__file__).with_name("options.json"))
