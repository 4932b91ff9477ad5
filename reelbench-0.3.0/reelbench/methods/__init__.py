"""Ways of running a benchmark and of taking its errors apart."""
