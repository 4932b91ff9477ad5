"""One folder per benchmark; what they share stands beside them. `reelbench list` shows what is here."""
