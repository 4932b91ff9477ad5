"""Numbers in, numbers out: intervals, power, agreement, calibration. Knows no benchmark and imports nothing of ours."""
