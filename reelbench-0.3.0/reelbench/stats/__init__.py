"""Statistics on numbers: intervals, tests, power, agreement coefficients, calibration.

A module here may import the other modules of this package, numpy and the standard library.
It never reads a file and knows nothing of benchmarks, models or results.
"""
