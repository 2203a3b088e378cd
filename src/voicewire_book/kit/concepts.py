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
        "show?",
        (
            "a line at 5 kHz",
            "a line at 3 kHz",
            "nothing: tones above 4 kHz are lost",
            "a line at 4 kHz, the highest that fits",
        ),
        1,
        "The samples of 5 kHz and of 8 - 5 = 3 kHz are the same numbers, up to a sign. Nothing is lost and nothing is "
        "clipped: the tone appears where it is not. That is why a filter has to stand before the sampler.",
    ),
    Item(
        "pole and formant",
        "foundations/01_signals",
        "A linear prediction of order 12 of a vowel has six pairs of poles. How many formants does the vowel have?",
        (
            "six, one for each pair",
            "twelve, one for each pole",
            "as many as the spectrum of the samples has peaks",
            "it does not follow: a pole is the model's, and some only shape the slope",
        ),
        3,
        "A pole belongs to the model, a formant to the vocal tract. A pair with a wide bandwidth, or on the real "
        "axis, describes the slope of the spectrum. Peaks of the spectrum do not decide it either: each harmonic of "
        "the voice is one.",
    ),
    Item(
        "floor and speed",
        "foundations/02_filters",
        "The step of an LMS filter is small. It is doubled. What happens?",
        (
            "it learns faster and ends at a higher floor",
            "it learns faster and ends at the same floor: the input decides the floor",
            "it learns faster and ends at a lower floor, because it has more time there",
            "it learns at the same speed, but more accurately",
        ),
        0,
        "A larger step follows the error faster, and the noise in it as well. Speed and floor are two ends of one "
        "knob. A longer run does not lower the floor: the filter is there already.",
    ),
    Item(
        "error and misalignment",
        "echo/01_adaptive_filters",
        "An echo canceller takes 30 dB off the echo while a hum of one tone plays (ERLE). What do its taps know of "
        "the room?",
        (
            "the room's response, within 30 dB",
            "the room's response, within 15 dB, since taps are amplitudes",
            "next to nothing but what the room does to that one tone",
            "nothing, because a hum is not speech",
        ),
        2,
        "ERLE asks about the echo of what was played, misalignment about the taps. For one tone, many sets of taps "
        "give the same echo. When the far end begins to speak, the echo is back.",
    ),
    Item(
        "two loudspeakers, two answers",
        "echo/01_adaptive_filters",
        "Both loudspeakers of a stereo system play the same signal. A filter with two paths cancels the echo "
        "perfectly. Then",
        (
            "its two paths are those of the room",
            "only the sum of its two paths is that of the room",
            "one path is that of the room, the other is zero",
            "the average of its two paths is that of the room, each within the noise",
        ),
        1,
        "The microphone hears the sum only, so only the sum can be learnt. As soon as the two signals differ, the "
        "wrong split becomes audible.",
    ),
    Item(
        "reuse and memory",
        "echo/02_rls_by_shifts",
        "An RLS filter uses each sample three times instead of once. What does it gain, if every pass is solved "
        "exactly?",
        (
            "three times as much information on the room",
            "a floor three times lower at the same speed",
            "what a shorter memory gives: it follows faster, and lets in more noise",
            "nothing at all: the second pass changes no tap",
        ),
        2,
        "The passes of a sample are one step with a larger gain. A sample used again holds no new information. The "
        "second pass does move the taps, by what the first one left.",
    ),
    Item(
        "correlation and cause",
        "pharyngeal/04_reproduction",
        "In all emphatic tokens the larynx stands higher, and F1 is higher. What shows whether the larynx raised F1?",
        (
            "a correlation near 1 over many tokens",
            "a p value below 0.001",
            "a tract in which only the larynx moves: how much does F1 change there?",
            "a second speaker with the same two rises",
        ),
        2,
        "Both rise together in every token of this consonant, whatever the cause. Only moving one and holding the "
        "rest tells how much of the rise it can explain.",
    ),
    Item(
        "tokens and speakers",
        "foundations/05_measuring_and_judging",
        "Five speakers say a vowel twenty times each. You want an interval for the mean of all speakers of the "
        "language. The number of independent samples is",
        (
            "100, the number of tokens",
            "5, or little more",
            "20, the tokens of one speaker",
            "500, since each token has five formants",
        ),
        1,
        "Tokens of a speaker resemble one another, so the speakers count. A hundred tokens make each speaker's mean "
        "accurate, and that is all.",
    ),
    Item(
        "one interval and many",
        "foundations/05_measuring_and_judging",
        "A 95 % interval from one study is 3 to 7. Which sentence is true of the procedure?",
        (
            "95 % of the samples lie between 3 and 7",
            "in 95 % of such studies the interval that comes out holds the true value",
            "the true value lies between 3 and 7 in 95 % of the cases",
            "95 % of such studies have a mean between 3 and 7",
        ),
        1,
        "The promise is the procedure's: over many studies, 95 % of the intervals hold the truth. This interval does "
        "or does not. Single samples scatter far more than their mean.",
    ),
    Item(
        "round trip and timeout",
        "foundations/03_tcp",
        "The round trip of a TCP connection jumps from 0.2 s to 2 s and stays there; nothing is lost. What may the "
        "sender do?",
        (
            "it repeats segments that have arrived, since its timer is too short at first",
            "nothing: repeats are for lost segments only",
            "it closes the connection",
            "it waits for three duplicate acknowledgements",
        ),
        0,
        "A sender can't see a loss, only that no acknowledgement came in time. Its timeout comes from earlier round "
        "trips, so the first segments after the jump are taken for lost.",
    ),
    Item(
        "capture and wire",
        "transport/02_measuring_honestly",
        "A capture on the sending host shows a TCP segment of 20,000 bytes over Ethernet with an MTU of 1500. What "
        "was sent?",
        (
            "one frame of 20,000 bytes",
            "fourteen or so segments that the network card cut after the capture",
            "a single frame of 1500 bytes; the rest was dropped",
            "it can't be: the capture is broken",
        ),
        1,
        "With segmentation offload, the kernel hands a large block to the card, and the capture sees it before it is "
        "cut. Counting headers in this capture counts too few.",
    ),
    Item(
        "bytes and time",
        "transport/03_tcp_against_mqtt",
        "On a line of 54 Mbit/s a small message takes longer by MQTT than by bare TCP. What explains most of the "
        "difference?",
        (
            "MQTT's longer headers",
            "the round trips that a session needs before the message goes",
            "the broker's computing time",
            "encryption, which MQTT has and TCP lacks",
        ),
        1,
        "A header of some bytes takes microseconds on such a line; each round trip takes the path's whole delay. "
        "Count who waits for whom. Neither of the two encrypts anything by itself.",
    ),
    Item(
        "seal and signature",
        "transport/01_sockets_and_segments",
        "A message is encrypted with a key that only its readers have. What does a reader know about its writer?",
        (
            "that it was the owner",
            "that it was somebody who has the key: a reader may have written it",
            "nothing could be changed on the way, so it was the owner",
            "it depends on the length of the key",
        ),
        1,
        "Encryption says who can read. Who has written, only a signature says, made with a key that no reader has.",
    ),
    Item(
        "receipt and delivery",
        "emqtt/02_end_to_end",
        "A publisher sends a message at QoS 1 and gets PUBACK. What does it know?",
        (
            "that at least one subscriber has the message",
            "that every subscriber has the message at least once",
            "that the broker has taken over the message",
            "that a subscriber is connected",
        ),
        2,
        "PUBACK answers on the publisher's leg only. The publisher does not learn whether anybody has subscribed, or "
        "has the message.",
    ),
    Item(
        "exactly once, and memory",
        "foundations/04_mqtt",
        "At QoS 2 a message rings a bell exactly once. When is that untrue?",
        (
            "if PUBREC is lost",
            "if the connection breaks between PUBREC and PUBREL",
            "if the receiver loses its memory between PUBLISH and PUBREL",
            "never: four packets guarantee it",
        ),
        2,
        "Lost packets and broken connections are repaired from what both ends remember. The promise lasts as long as "
        "that memory.",
    ),
    Item(
        "rating and hearing",
        "voip/02_quality_and_playout",
        "One call has R = 80 by the E-model, another R = 77. What follows?",
        (
            "everybody hears the first one as better",
            "for this model's listeners, on average, the first is a little better; other rules may order them "
            "otherwise",
            "the second one is unusable, since R has fallen by three points",
            "the first loses 3 % fewer packets",
        ),
        1,
        "R is a planner's sum of impairments that were fitted one by one to average listeners. Another rule for "
        "losses moves it by more than three points.",
    ),
    Item(
        "mean delay and lateness",
        "voip/02_quality_and_playout",
        "Two paths have a mean delay of 100 ms. On one, delays scatter by 5 ms; on the other by 80 ms. For a call "
        "they are",
        (
            "equal: the mean delay decides",
            "different: the scatter makes frames late, or makes the phone wait for them",
            "different, but only if packets are lost",
            "equal, since a playout buffer removes scatter at no cost",
        ),
        1,
        "A buffer turns scatter into delay or into loss. There is no third way: a frame that comes after its time to "
        "be played is as good as lost.",
    ),
    Item(
        "packets in a buffer, and time",
        "voip/01_rate_control",
        "A send buffer holds five packets of 20 ms. How long can a packet wait in it?",
        (
            "100 ms at most: five times 20 ms",
            "20 ms, since a packet leaves every 20 ms",
            "as long as five packets take at the rate that the transport allows, which may be far more than 100 ms",
            "no time, if nothing is lost",
        ),
        2,
        "The voice fills the buffer at its own rate, the transport empties it at the allowed rate. If that is two "
        "packets a second, five packets are seconds.",
    ),
    Item(
        "errors, alone and in bursts",
        "nfc/02_errors_and_timers",
        "Of a million bits, a hundred are wrong. In which case are more packets of 500 bytes lost?",
        (
            "if the wrong bits are scattered one by one",
            "if they come in bursts of ten",
            "in both cases equally: the bit error rate is the same",
            "in bursts, since a packet with many errors can't be mended",
        ),
        0,
        "One wrong bit loses a packet as surely as ten do. Bursts put many errors into few packets, so more packets "
        "stay whole.",
    ),
    Item(
        "retries and waiting",
        "nfc/02_errors_and_timers",
        "Half of all packets are lost, and the timer doubles after each loss of the same packet, for ever. The mean "
        "time until a packet is through is",
        (
            "two timeouts, as two tries are needed on average",
            "infinite, although every packet gets through",
            "four timeouts",
            "infinite, because some packets never get through",
        ),
        1,
        "A k-th loss has the probability of one half to the k, and costs twice as much as the one before: every term "
        "of the sum is the same. Each single packet gets through after a finite time.",
    ),
)

PILOT = tuple(
    item
    for item in ITEMS
    if item.name
    in {
        *("pole and formant", "floor and speed", "error and misalignment", "correlation and cause"),
        *("one interval and many", "bytes and time", "receipt and delivery", "exactly once, and memory"),
        *("mean delay and lateness", "errors, alone and in bursts"),
    }
)
"""Ten of them, for a first trial with a class: at least one of each part."""
