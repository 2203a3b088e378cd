"""Figure 2 on two people's voices: what was recorded is what the code gives, and the voices are two, as told."""

import numpy as np
import pytest

from voicewire.echo import paper
from voicewire.echo.metrics import follow
from voicewire.echo.scenes.scene import Scene
from voicewire.echo.scenes.speech import gather, talk, utterances
from voicewire_book.chapters.echo import alternative_mechanisms, figures, recorded_conversations
from voicewire_book.chapters.echo.experiments import column, paper_filter, read


@pytest.mark.parametrize(("family", "reuse", "alpha", "seed"), [("decaying", 1, 0.4, 1), ("room", 5, 0.0, 3)])
def test_a_curve_is_as_recorded(family, reuse, alpha, seed):
    setting = paper.FIGURE_2
    source = talk(setting.samples / paper.RATE, seed, "recorded")
    signals = Scene(
        setting.length, setting.samples, seed, source=source, predistortion=alpha, change="swap",
        change_at=setting.change_at, family=family,
    ).signals()  # fmt: skip
    curve = follow(paper_filter(setting, reuse, regularization=1.0), signals, recorded_conversations.EVERY)
    where = {"family": family, "epsilon": 1.0, "alpha": alpha, "reuse": reuse, "seed": seed}
    assert column(read("conversations"), "t15", **where) == [curve.tracking_time(setting.change_at, -15)]
    floor = curve.steady(setting.change_at - setting.change_at // 5, setting.change_at)
    assert column(read("conversations"), "before", **where) == pytest.approx([floor], abs=1e-2)


def test_the_voices_are_thirty_two_announcements_of_equal_power():
    pieces = utterances("recorded")
    assert len(pieces) >= 32
    spoken = np.array([np.std(piece[np.abs(piece) > 1e-4]) for piece in pieces])
    assert spoken.max() < 2 * spoken.min()
    one, other = talk(30, 1, "recorded"), talk(30, 1)
    assert one.size == other.size and abs(np.corrcoef(one, other)[0, 1]) < 0.1
    assert np.std(one) == pytest.approx(1, abs=1e-3)


def test_too_few_announcements_are_told(tmp_path):
    with pytest.raises(ValueError, match=r"it\* holds 0 files of 2.5 to 5 s: 16 are needed"):
        gather(tmp_path)


def test_every_claim_on_speech_is_judged_on_both():
    for reading in alternative_mechanisms.speech_gaps().values():
        assert {name.partition(",")[2] for name in reading} == {"", " recorded voices"}
    assert sum("recorded" in name for name in alternative_mechanisms.speech_times()) == 6


def test_each_conversation_is_drawn():
    ratios = recorded_conversations.times()[3] / recorded_conversations.times()[1]
    ax = figures.conversations({"people": {"3 after 1": ratios}, "Praat": {"3 after 1": 0.5}}, 0.9)
    drawn = [np.asarray(line.get_ydata(), float) for line in ax.lines]
    assert drawn[0] == pytest.approx(ratios) and drawn[1] == pytest.approx([0.5])


def test_what_the_chapter_says_of_ten_conversations():
    both = [recorded_conversations.times(family) for family in recorded_conversations.FAMILIES]
    ten = {n: np.concatenate([times[n] for times in both]) for n in (1, 2, 3, 5)}
    assert (ten[2] < 0.8 * ten[1]).all()
    assert (ten[3] < ten[2]).all() and (ten[3] > 0.9 * ten[2]).sum() == 3
    assert max(ten[5] / ten[3]) == pytest.approx(1.4, abs=0.05) and (ten[5] > ten[3]).sum() == 1
    for case in recorded_conversations.CASES:
        assert min(gap.min() for gap in recorded_conversations.gaps(*case).values()) > 10
