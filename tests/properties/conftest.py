"""Hypothesis draws the same examples in every run, and none is timed: the first of each kind compiles and imports."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "nonneg", deadline=None, derandomize=True, database=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("nonneg")
