"""Scorers, one module per *kind* of answer and never per dataset, and what turns their scores into a result."""
