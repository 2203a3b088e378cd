"""What the teaching chapters derive of coils and of packet sizes, by trying."""

import math

import numpy as np
import pytest


@pytest.mark.parametrize("rate", [1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("headers", [20, 40, 46])
def test_no_size_is_better_than_the_derived_one(rate, headers):
    a = -8 * math.log1p(-rate)
    root = (math.sqrt(headers**2 + 4 * headers / a) - headers) / 2
    sizes = np.arange(1, 20_000)
    useful = sizes / (sizes + headers) * (1 - rate) ** (8 * (sizes + headers))
    assert abs(sizes[useful.argmax()] - root) < 1


def test_what_is_sent_again_is_what_the_share_counts():
    """Packets of 204 bytes and 40 of headers, each bit wrong with 1e-4: counted, as the chapter's 69 %."""
    rng = np.random.default_rng(4)
    tries = rng.geometric((1 - 1e-4) ** (8 * 244), 20_000)
    assert 204 / (244 * tries.mean()) == pytest.approx(0.688, abs=0.005)
