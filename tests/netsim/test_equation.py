"""The throughput equation and the average loss interval against printed and independent values."""

import numpy as np
import pytest

from voicewire.netsim import NetsimError, equation

P = [1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.2, 0.3, 0.4, 0.5]
TABLE_1 = {
    14: [209.25, 120.79, 66.12, 38.10, 20.74, 11.76, 6.07, 2.99, 0.96, 0.29, 0.11, 0.05, 0.02],
    536: [2232.00, 1288.41, 705.25, 406.44, 221.23, 125.49, 64.75, 31.90, 10.21, 3.09, 1.12, 0.48, 0.24],
    1460: [5812.49, 3355.24, 1836.58, 1058.45, 576.12, 326.79, 168.61, 83.07, 26.58, 8.06, 2.93, 1.26, 0.63],
}


@pytest.mark.parametrize("segment", TABLE_1)
def test_rfc4828_table_1_to_its_last_digit(segment):
    assert equation.rfc4828_table(P, segment) == pytest.approx(TABLE_1[segment], abs=1e-9)


@pytest.mark.parametrize("segment", TABLE_1)
def test_exact_equation_is_close_to_the_table(segment):
    exact = equation.rate(segment + 40, 0.1, P) / 1000
    assert np.all(np.abs(exact - TABLE_1[segment]) <= np.maximum(0.003 * exact, 0.0075))


def test_equation_written_out():
    p, r, s = 0.02, 0.13, 700.0
    expected = s / (r * np.sqrt(2 * p / 3) + 4 * r * 3 * np.sqrt(3 * p / 8) * p * (1 + 32 * p**2))
    assert float(equation.rate(s, r, p)) == pytest.approx(expected, rel=1e-12)


def test_inverse():
    p = np.geomspace(1e-8, 0.9, 40)
    assert equation.loss_rate(equation.rate(1460, 0.2, p), 1460, 0.2) == pytest.approx(p, rel=1e-9)


def test_average_interval():
    closed = [100.0, 50, 80, 120, 90, 70, 60, 40]
    w = [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]
    without = np.dot(w, closed) / 6
    assert equation.average_interval([1.0, *closed]) == pytest.approx(without)
    assert equation.average_interval([500.0, *closed]) == pytest.approx(np.dot(w, [500.0, *closed[:7]]) / 6)


@pytest.mark.parametrize(
    "arguments", [(20, 0.1, 0.0), (20, 0.1, 1.5), (20, 0.0, 0.1), (-1, 0.1, 0.1), (20, 0.1, float("nan"))]
)
def test_bad_input(arguments):
    with pytest.raises(NetsimError):
        equation.rate(*arguments)


def test_one_open_interval_and_one_to_eight_closed_ones():
    assert [equation.average_interval([7.0] * n) for n in (2, 9)] == [7.0, 7.0]
    for wrong in ([7.0], [7.0] * 10, [[7.0, 7.0]], [7.0, 0.0]):
        with pytest.raises(NetsimError):
            equation.average_interval(wrong)
