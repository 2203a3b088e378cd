"""The command `voicewire nfc …`."""

import pytest

from voicewire import cli


def test_session_and_its_closed_form(capsys):
    assert cli.main(["nfc", "session", "--mss", "1460"]) == 0
    out = capsys.readouterr().out
    assert "session latency   6.26 s, delivered" in out
    assert "closed form       6.26 s" in out
    assert "stalls 0.08" in out


def test_session_with_errors_and_one_that_gives_up(capsys):
    assert cli.main(["nfc", "session", "--ber", "1e-5", "--burst", "4", "--seed", "2"]) == 0
    assert cli.main(["nfc", "session", "--ber", "0.3"]) == 1
    assert "gave up after 12 retransmissions" in capsys.readouterr().out


def test_exchange(capsys):
    assert cli.main(["nfc", "exchange", "--ber", "1e-4", "--runs", "50"]) == 0
    out = capsys.readouterr().out
    assert "packet loss       35.08" in out
    assert "expected          450.84 s" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["session", "--mss", "0"], "--mss: '0' is not"),
        (["session", "--mss", "70000"], "MSS is 70000"),
        (["session", "--rate", "0"], "--rate: the value is 0: it must be above 0"),
        (["session", "--ber", "1"], "--ber: the value is 1: it must be at least 0 and below 1"),
        (["session", "--delay", "-1"], "--delay: the value is -1"),
        (["session", "--latency", "nan"], "--latency: the value is nan"),
        (["session", "--bytes", "0"], "--bytes: '0' is not"),
        (["session", "--window", "0"], "--window: '0' is not"),
        (["session", "--seed", "-1"], "--seed: '-1' is not"),
        (["exchange", "--runs", "0"], "--runs: '0' is not"),
        (["exchange", "--ber", "1e-4", "--burst", "0.2"], "--burst: the value is 0.2"),
        (["exchange", "--ber", "0.9", "--burst", "1"], "lengthen them"),
    ],
)
def test_impossible_parameters_are_usage_errors_of_one_line(arguments, words, capsys):
    try:
        status = cli.main(["nfc", *arguments])
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [["nfc"], ["nfc", "session", "--mss", "x"], ["nfc", "nothing"]])
def test_wrong_usage_exits_2_with_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["session"], ["exchange"]])
def test_help(command, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["nfc", *command, "--help"])
    assert caught.value.code == 0
    assert "usage: " in capsys.readouterr().out
