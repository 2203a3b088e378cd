"""The lab's own session far beyond the check's forty cases; the stages are tried in tests/test_labs.py."""

from hypothesis import given, settings
from hypothesis import strategies as st
from labs import solutions

from voicewire.nfc.session import Session


@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(1, 8000), mss=st.integers(100, 1460), window=st.integers(1, 6000), limit=st.integers(6000, 12_000),
    delay=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
)  # fmt: skip
def test_the_lab_s_session_is_the_package_s(size, mss, window, limit, delay):
    session = Session(size, mss, window, limit, ethernet_delay=delay, rto=600.0)
    assert SESSION(size, mss, window, limit, session.far) == session.run().slots


SESSION = solutions("nfc/01_slow_link")["solved_session"]
