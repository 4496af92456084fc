from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from commcanary.judge.run_quantiles import RunQuantiles


@given(st.integers(1, 6), st.integers(1, 9), st.integers(0, 999), st.floats(0, 100))
def test_equals_numpy_on_the_runs_written_out(runs: int, events: int, seed: int, percent: float) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 20, (runs, events)).astype(np.float64)
    drawn = generator.integers(0, runs, (7, runs))
    weights = np.array([np.bincount(row, minlength=runs) for row in drawn])
    found = RunQuantiles(values).quantiles(weights, [percent])
    assert np.allclose(found[0], [np.percentile(values[row], percent) for row in drawn])
