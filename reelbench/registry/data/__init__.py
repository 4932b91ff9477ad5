"""A split's data on this machine: where it is from, how it gets here, and its rows; `fetch` brings videos too."""
