"""The results store, its statistics, the table and site built from it, publishing and exporters."""
