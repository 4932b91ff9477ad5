"""The board's commands: thin, everything heavy imported inside a command."""
