"""Asking a language model: paid once, leased between processes, paced and within a budget."""
