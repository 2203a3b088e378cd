"""Twenty questions on what is often misunderstood, to be answered before a part and again after it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ITEMS", "PILOT", "Item"]


@dataclass(frozen=True)
class Item:
    """A question with four options, of which one is right; each of the others is somebody's belief."""

    name: str
    """Two or three words: the ideas that are taken for one another."""
    chapter: str
    """Where it is taught: ``part/chapter``."""
    question: str
    options: tuple[str, str, str, str]
    right: int
    why: str
    """Why the right one is right, and what whoever chose another may have thought."""

    @property
    def part(self) -> str:
        """The part of the book that teaches it."""
        return self.chapter.partition("/")[0]

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        return "abcd"[self.right]


ITEMS = (
    Item(
        "sampling and spectrum",
        "foundations/01_signals",
        "A tone of 5 kHz is sampled 8000 times a second, with no filter before. What does the spectrum of the samples "
        "show between 0 and 4 kHz?",
        (
            "nothing: tones above 4 kHz are lost",
            "a line at 3 kHz, as if that had been the tone",
            "a line at 4 kHz, the highest frequency that fits",
            "a faint line at 5/2 kHz, half of the tone",
        ),
        1,
        "The samples of 5 kHz and of 8 - 5 = 3 kHz are the same numbers. Nothing is lost and nothing is clipped: the "
        "tone appears where it is not. That is why a filter has to stand before the sampler.",
    ),
    Item(
        "pole and formant",
        "foundations/01_signals",
        "A linear prediction of order 12 of a vowel has twelve poles in six pairs. How many formants does the vowel "
        "have?",
        (
            "six, because each pair is a resonance of the tract",
            "twelve, because each pole is a resonance",
            "as many as the samples' spectrum has peaks",
            "the poles alone do not tell: some only shape the slope",
        ),
        3,
        "A pole belongs to the model, a formant to the vocal tract. A pair with a wide bandwidth describes the slope "
        "of the spectrum. Peaks of the spectrum do not decide it either: each harmonic of the voice is one.",
    ),
    Item(
        "floor and speed",
        "foundations/02_filters",
        "An LMS filter listens with noise. Its step is far below the bound, and is doubled. What happens?",
        (
            "it learns faster and ends at a higher floor",
            "it learns faster and ends at the same floor",
            "it learns faster and ends at a lower floor",
            "it learns more slowly and ends at a lower floor",
        ),
        0,
        "A larger step follows the error faster, and the noise in it as well: speed and floor are two ends of one "
        "knob. A longer run does not lower the floor, because the filter is there already.",
    ),
    Item(
        "error and misalignment",
        "foundations/02_filters",
        "A filter of many taps takes 30 dB off the echo of a single tone. What do its taps tell about the room?",
        (
            "the room's response, within 30 dB",
            "the room's response, within 15 dB",
            "what the room does to this tone, and hardly more",
            "nothing at all, because a tone is not speech",
        ),
        2,
        "The error asks about the echo of what was played, misalignment about the taps. For one tone, many sets of "
        "taps give the same echo. As soon as something else is played, the echo is back.",
    ),
    Item(
        "two loudspeakers, two answers",
        "echo/01_adaptive_filters",
        "Both loudspeakers of a stereo system play the same signal, and a filter with two paths cancels the echo "
        "perfectly. What is certain?",
        (
            "each of its paths is a path of the room",
            "its two paths add up to the sum of the room's",
            "one of its paths is right, and the other one is zero",
            "its two paths are equal to each other",
        ),
        1,
        "The microphone hears only the sum, so only the sum can be learnt. As soon as the two signals differ, the "
        "wrong split becomes audible.",
    ),
    Item(
        "reuse and memory",
        "echo/02_rls_by_shifts",
        "An RLS filter uses each sample three times instead of once, and solves its equations exactly each time. What "
        "does it gain?",
        (
            "three times as much information on the room",
            "a lower floor at the same speed",
            "nothing, because the second pass changes no tap",
            "what a shorter memory gives, in speed and in noise",
        ),
        3,
        "All passes of a sample are one step with a larger gain: the filter follows faster and lets in more noise. A "
        "sample used again holds no new information. The second pass does move the taps, by what the first one left.",
    ),
    Item(
        "correlation and cause",
        "pharyngeal/04_reproduction",
        "In all emphatic tokens the larynx stands higher, and F1 is higher. What would show how much of F1 the larynx "
        "raised?",
        (
            "a correlation near 1 over a thousand further tokens",
            "a p value below 0.001 in a test of both rises",
            "a tract in which the larynx moves and the rest does not",
            "a second speaker in whom both of them rise as well",
        ),
        2,
        "Both rise together in every token of this consonant, whatever the cause is. If one is moved and the rest is "
        "held, the change is its own, and it can be compared with what was measured.",
    ),
    Item(
        "tokens and speakers",
        "foundations/05_measuring_and_judging",
        "Five speakers say a vowel twenty times each, and you want an interval for the mean of all speakers of the "
        "language. On how many values do you compute Student's interval?",
        (
            "on five, the means of the speakers",
            "on twenty, the tokens of a speaker",
            "on a hundred, all of the tokens",
            "on whichever number gives the shorter interval",
        ),
        0,
        "Tokens of one speaker resemble each other, so they are not independent. Twenty tokens make a speaker's mean "
        "accurate, and that is all they do for the language.",
    ),
    Item(
        "one interval and many",
        "foundations/05_measuring_and_judging",
        "A study gives a 95 % interval for a mean, from 3 to 7. What do the 95 % refer to?",
        (
            "the share of the samples that lie between 3 and 7",
            "the share of further studies whose mean lies between 3 and 7",
            "the share of such studies whose interval holds the true mean",
            "the chance that this study was carried out without an error",
        ),
        2,
        "The promise belongs to the procedure: over many studies, 95 % of the intervals hold the true mean. This one "
        "does or does not. Single samples scatter far more than their mean.",
    ),
    Item(
        "round trip and timeout",
        "foundations/03_tcp",
        "The round trip of a TCP connection jumps from 0.2 s to 2 s and stays there; no segment is lost. What happens "
        "first?",
        (
            "nothing: only lost segments are sent again",
            "segments are sent again that were not lost",
            "three duplicate acknowledgements halve the window",
            "the connection is closed by the sender",
        ),
        1,
        "A sender can't see a loss, only that no acknowledgement came in time. Its timeout comes from earlier round "
        "trips, so the first segments after the jump are taken for lost.",
    ),
    Item(
        "capture and wire",
        "transport/02_measuring_honestly",
        "A capture on the sending host shows one TCP segment of 20,000 bytes over Ethernet with an MTU of 1500. What "
        "was on the wire?",
        (
            "one frame of 20,000 bytes",
            "one frame of 1500 bytes, and the rest was dropped",
            "nothing: the capture file is broken",
            "some fourteen segments, cut after the capture",
        ),
        3,
        "With segmentation offload the kernel hands a large block to the network card, and the capture sees it before "
        "it is cut. If you count headers in this capture, you count too few.",
    ),
    Item(
        "bytes and time",
        "transport/03_tcp_against_mqtt",
        "A small message takes longer in a fresh MQTT session than over a fresh TCP connection, on a line of 54 "
        "Mbit/s with a round trip of 40 ms. What explains most of the difference?",
        (
            "the packets that have to be waited for one after the other",
            "the longer headers of MQTT's packets",
            "the time that the broker computes",
            "the encryption that MQTT brings along",
        ),
        0,
        "A header of some bytes takes microseconds on such a line, and each packet that somebody waits for takes the "
        "path's delay. Neither of the two encrypts anything by itself.",
    ),
    Item(
        "seal and signature",
        "transport/01_sockets_and_segments",
        "A message is sealed with a key that its owner and its readers share, with a tag that shows any change. What "
        "does a reader know about its writer?",
        (
            "that the owner has written it",
            "that somebody with the key has written it",
            "that no other reader has written it",
            "nothing, unless the key is long enough",
        ),
        1,
        "A shared key says who can read and who could have written: any of those who have it. Which of them has "
        "written, only a signature says, made with a key that no reader has.",
    ),
    Item(
        "receipt and delivery",
        "emqtt/02_end_to_end",
        "In MQTT 3.1.1 a publisher sends a message at QoS 1 and gets PUBACK. What does it know?",
        (
            "that at least one subscriber has the message",
            "that every subscriber has it at least once",
            "that a subscriber is connected to the broker",
            "that the broker has taken the message over",
        ),
        3,
        "PUBACK answers on the publisher's leg. It does not say whether anybody has subscribed, or has the message.",
    ),
    Item(
        "exactly once, and memory",
        "foundations/04_mqtt",
        "At QoS 2, with sessions that are kept, a message shall ring a bell exactly once. What can break that "
        "promise?",
        (
            "the loss of a PUBREC on the way",
            "a connection that breaks before PUBREL",
            "a receiver that loses its notes before PUBREL",
            "a broker that has many subscribers",
        ),
        2,
        "Lost packets and broken connections are repaired from what both ends remember. The promise lasts as long as "
        "that memory.",
    ),
    Item(
        "rating and hearing",
        "voip/02_quality_and_playout",
        "By the E-model one call has R = 80 and another one R = 77. What follows?",
        (
            "the first is a little better by this model's rules",
            "everybody hears the first one as better",
            "the second one has three per cent more losses",
            "the second one cannot be used for talking",
        ),
        0,
        "R is a planner's sum of impairments that were fitted one by one to average listeners. Another rule for "
        "losses can move it by more than three points.",
    ),
    Item(
        "mean delay and lateness",
        "voip/02_quality_and_playout",
        "Two paths have a mean delay of 100 ms. On one, delays scatter by 5 ms, on the other by 80 ms. What does this "
        "mean for a call?",
        (
            "nothing, because the mean delay decides",
            "more gaps or a longer wait on the second path",
            "a difference only if packets are lost as well",
            "nothing, because a playout buffer removes scatter",
        ),
        1,
        "A buffer turns scatter into delay or into loss. There is no third way: a frame that comes after its time to "
        "be played is as good as lost.",
    ),
    Item(
        "packets in a buffer, and time",
        "voip/01_rate_control",
        "A send buffer holds five packets of 20 ms of voice each. How long can a packet wait in it?",
        (
            "at most 100 ms, five times 20 ms",
            "at most 20 ms, the time of a packet",
            "much longer than 100 ms, at a low rate",
            "not at all, as long as nothing is lost",
        ),
        2,
        "The voice fills the buffer at its own rate, the transport empties it at the rate that it allows. If that is "
        "two packets a second, five packets are seconds.",
    ),
    Item(
        "errors, alone and in bursts",
        "nfc/02_errors_and_timers",
        "One wrong bit loses the packet that it is in. Of a million bits, a hundred are wrong. When are more packets "
        "of 500 bytes lost?",
        (
            "if the wrong bits come in bursts of ten",
            "in both cases alike: the error rate is the same",
            "it depends on the length of the checksum",
            "if the wrong bits are scattered one by one",
        ),
        3,
        "One wrong bit loses a packet as surely as ten do. Bursts put many errors into few packets, so more packets "
        "stay whole.",
    ),
    Item(
        "retries and waiting",
        "nfc/02_errors_and_timers",
        "Each try is lost with a chance of one half, whatever became of the others. The timer doubles after each loss "
        "of the same packet, without end. What is the mean wait until a packet is through?",
        (
            "infinite, although every packet gets through",
            "infinite, because some packets never get through",
            "two timeouts, since two tries are needed on average",
            "four timeouts, twice as many as with a constant timer",
        ),
        0,
        "The k-th loss has a chance of one half to the k, and costs twice as much as the one before: every term of "
        "the sum is the same. Each single packet gets through after a finite time.",
    ),
)

PILOT = tuple(
    item
    for item in ITEMS
    if item.name
    in {
        *("pole and formant", "floor and speed", "one interval and many", "correlation and cause"),
        *("two loudspeakers, two answers", "bytes and time", "receipt and delivery", "exactly once, and memory"),
        *("mean delay and lateness", "errors, alone and in bursts"),
    }
)
"""Ten of them, for a first trial with a class: at least one of each part."""
