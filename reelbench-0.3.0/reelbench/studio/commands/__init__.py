"""The studio's commands: thin, everything heavy imported inside a command."""
