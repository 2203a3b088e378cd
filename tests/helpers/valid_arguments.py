"""One valid call of each public function of the studies; `test_any_input.py` spoils one argument at a time.

A float is a real number, an int a whole one, an array an array: what an argument is replaced by follows from that.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
from nonsense import Case

from voicewire import netsim
from voicewire.echo import WLNLMS, metrics, widely_linear
from voicewire.echo.recordings import cancellation as cancelling
from voicewire.echo.scenes import scene
from voicewire.echo.two_path_filter import Guarded
from voicewire.nfc import channel, exchange, fragmentation, link, session, slot_sharing
from voicewire.nfc.beyond import ethernet
from voicewire.pharyngeal import formants, synthesis, textgrid, tract, tract_grid
from voicewire.pharyngeal.audio_files import Sound
from voicewire.pharyngeal.films import keyframes, organs, xray_film
from voicewire.pharyngeal.statistics import principal_components
from voicewire.voip import conversation
from voicewire.voip.captures import clock_skew, received, rtp
from voicewire.voip.dccp import importance
from voicewire_book.chapters.emqtt.interactive_panel import Panel

_RESULT = "holds what another function gives back; nobody makes one"
_SOCKETS = "opens sockets, namespaces or programs: tests of its own, with real ones"
_FILES = "reads or writes files: the command line's tests feed it broken ones"
_FIGURE = "draws what other functions computed (tests of figures)"
_RECORDS = "records once, for hours, from what the paper says; its whole input is a folder"
_PRINTED = "looks up what is printed, by name"
READING = "a reading version, short and plain: the fast one beside it checks, and is proven equal"
_ENGINE = "behind the door: compiled, on records that `simulate` and `Session.run` have checked"

EXEMPT = {
    "voip.captures.clock_skew.Drift": _RESULT,
    "pharyngeal.films.frame_brightness.Levels": _RESULT,
    "pharyngeal.films.frame_brightness.Sight": _RESULT,
    "pharyngeal.films.frame_brightness.look_through":
        "gives reasons instead of errors (tests/pharyngeal/test_exposure.py)",
    "echo.recordings.cancellation.Cancelled": _RESULT,
    "echo.recordings.delay_estimation.Peak": _RESULT,
    "echo.recordings.delay_estimation.Break": _RESULT,
    "echo.recordings.delay_estimation.Alignment": _RESULT,
    "echo.recordings.delay_estimation.alignment": "takes what `phat` found",
    "echo.recordings.live":
        "plays and records: tests with a sound card that is made up (tests/echo/test_live_sound.py)",
    "echo.two_path_filter.Change": _RESULT,
    "echo.recordings.report": "holds what the command found (tests/echo/test_recordings.py)",
    "echo.recordings.stream": _FILES,
    "echo.recordings.cancellation.read_stereo": _FILES,
    "echo.recordings.cancellation.write_stereo": _FILES,
    "echo.adaptive_filter.AdaptiveFilter": "abstract: its kinds are here",
    "echo.metrics.Curve": _RESULT,
    "echo.metrics.Operations": _RESULT,
    "echo.widely_linear.Responses": "a tuple: `complex_taps` and `echo` check what is in it",
    "echo.scenes.scene.Signals": _RESULT,
    "echo.multichannel_filters": READING,
    "echo.nonuniqueness": "read on the page, for what a scene has made",
    "pharyngeal.statistics.principal_components.ArticulatoryModel": _RESULT,
    "pharyngeal.corpora": _FILES,
    "pharyngeal.statistics.correlation.PermutationTest": _RESULT,
    "pharyngeal.statistics.table_forensics.Reading": _RESULT,
    "pharyngeal.statistics.table_forensics.Search": _RESULT,
    "pharyngeal.statistics.table_forensics.MissingToken": _RESULT,
    "pharyngeal.formants.Track": _RESULT,
    "pharyngeal.inversion.Solution": _RESULT,
    "pharyngeal.films.contour_measures.Constriction": _RESULT,
    "pharyngeal.audio_files.read": _FILES,
    "pharyngeal.synthesis.Token": _RESULT,
    "pharyngeal.textgrid.Grid": _RESULT,
    "pharyngeal.textgrid.read": _FILES,
    "pharyngeal.formant_tables.formants": _FILES,
    "pharyngeal.textgrid.write": _FILES,
    "pharyngeal.tract.Outline": _RESULT,
    "pharyngeal.tube.Resonances": _RESULT,
    "pharyngeal.tube.praat_tract": "Praat's own list of phones",
    "pharyngeal.statistics.vowel_statistics.wide": _PRINTED,
    "pharyngeal.formant_transitions.Transition": _RESULT,
    "pharyngeal.films.xray_film.Frame": _RESULT,
    "voip.playout_rules.percentile_playout": READING,
    "voip.loss_bursts.Fixed": _RESULT,
    "voip.calls.Call": _RESULT,
    "voip.calls.quality": "a task of the sweep; `call` checks",
    "voip.dccp.header": "bytes of a protocol (tests of its own)",
    "voip.dccp.init_cookie": "bytes of a protocol (tests of its own)",
    "voip.dccp.data_dropped_option": "options of a protocol (tests of its own)",
    "voip.dccp.features": "options of a protocol (tests of its own)",
    "voip.dccp.nonce.found_after": "inf for a receiver that is never found (tests of its own)",
    "voip.dccp.nonce.honest": "options of a protocol (tests of its own)",
    "voip.dccp.nonce.report": "options of a protocol (tests of its own)",
    "voip.dccp.sequence_numbers.Numbers": "numbers of a protocol (tests of its own)",
    "voip.dccp.sequence_numbers.windows": "numbers of a protocol (tests of its own)",
    "voip.dccp.state_machine": "named states and events (tests of its own)",
    "voip.dccp.packet_ring.PacketRing": "bytes in slots (tests of its own)",
    "voip.captures.received.Arrivals": _RESULT,
    "voip.captures.received.Received": _RESULT,
    "voip.captures.received.Scored": _RESULT,
    "voip.captures.received.read_arrivals": _FILES,
    "voip.captures.received_figures": _FIGURE,
    "voip.captures.rtp.Capture": _RESULT,
    "voip.captures.rtp.Stream": _RESULT,
    "voip.captures.rtp.read_capture": _FILES,
    "voip.codecs.g729": "runs bcg729, where it is installed (tests of its own)",
    "voip.codecs.listening.Heard": _RESULT,
    "voip.codecs.listening.read_wav": _FILES,
    "voip.codecs.listening.speech": _FILES,
    "voip.ns3": "runs ns-3, where it is installed (tests of its own)",
    "voip.codecs.opus.decoded": "runs libopus, where it is installed (tests of its own)",
    "voip.codecs.opus.encoded": "runs libopus, where it is installed (tests of its own)",
    "voip.paper.Codec": _PRINTED,
    "voip.codecs.pesq": "runs PESQ, where its licence allows (tests of its own)",
    "voip.playout.Playout": _RESULT,
    "voip.playout.best_r": "the fast door behind `as_trace`",
    "voip.conversation.Talk": _RESULT,
    "nfc.channel.error_bits": _ENGINE,
    "nfc.channel.Channel.start": _ENGINE,
    "nfc.latency_formulas.Parts": _RESULT,
    "nfc.tcp.rto_estimator.Estimated": _RESULT,
    "nfc.errors": "checks",
    "nfc.exchange.Outcomes": _RESULT,
    "nfc.session.Result": _RESULT,
    "nfc.beyond.lwip": "runs lwIP, where it is installed (tests of its own)",
    "netsim.simulation.FlowResult": _RESULT,
    "netsim.simulation.Result": _RESULT,
    "netsim.senders.Udp.fill": _ENGINE,
    "netsim.senders.Tcp.fill": _ENGINE,
    "netsim.senders.Tfrc.fill": _ENGINE,
    "netsim.senders.Ccid2.fill": _ENGINE,
    "stats.Quartiles": _RESULT,
    "sweep": "runs processes, on any function (test_sweep feeds it nonsense)",
    "transport.linear_topology": _SOCKETS,
    "transport.external_captures": _FILES,
    "transport.mqtt_dissector": "bytes of a protocol (tests of its own)",
    "transport.secure_objects.icto_access_log": "sealed bytes (tests of its own, with a fuzzer)",
    "transport.secure_objects.icto": "sealed bytes (tests of its own, with a fuzzer)",
    "transport.secure_objects.icto_roles": "sealed bytes (tests of its own)",
    "transport.secure_objects.icto_format": "sealed bytes (tests of its own, with a fuzzer)",
    "transport.payloads": _FILES,
    "transport.measurement_runs": _RECORDS,
    "transport.overhead_formulas.Cost": _RESULT,
    "transport.overhead_formulas.Option": _RESULT,
    "emqtt.agent": _SOCKETS,
    "emqtt.counting.without_count": "bytes of a protocol (tests of its own)",
    "emqtt.dissection": "bytes of a protocol (tests of its own)",
    "emqtt.trace": _SOCKETS,
    "mqtt": "bytes, topics and sockets of a protocol: its own tests feed it, with hypothesis and a fuzzer",
    "nfc.reference.fragments.Fragment": _RESULT,
    "testbed.link.Counts": _RESULT,
    "testbed.capability": _SOCKETS,
    "testbed.capture": _SOCKETS,
    "testbed.capture_file": _FILES,
    "testbed.counters": _SOCKETS,
    "testbed.udp_proxy": _SOCKETS,
    "testbed.hosts": _SOCKETS,
    "testbed.link.Link": _SOCKETS,
    "testbed.mosquitto": _SOCKETS,
    "testbed.offload": _SOCKETS,
    "testbed.tcp_proxy": _SOCKETS,
    "testbed.rabbitmq": _SOCKETS,
}  # fmt: skip
"""What is not fed, by the beginning of its name, and why."""


def rng() -> np.random.Generator:
    """A generator that gives the same each time."""
    return np.random.default_rng(7)


def noise(n: int, seed: int = 1) -> np.ndarray:
    """Samples of a standard deviation of 0.2."""
    return 0.2 * np.random.default_rng(seed).standard_normal(n)


def stereo(n: int, seed: int = 1) -> np.ndarray:
    """The same as left + 1j*right."""
    return noise(n, seed) + 1j * noise(n, seed + 1)


@functools.cache
def room() -> widely_linear.Responses:
    """Four short echo paths."""
    return widely_linear.Responses(*(noise(8, k) for k in range(4)))


@functools.cache
def signals() -> Any:
    """A short scene."""
    return scene.Scene(8, 400, 1, change="sign", change_at=200).signals()


@functools.cache
def curve() -> metrics.Curve:
    """Misalignment that falls by 0.2 dB a point."""
    return metrics.Curve(np.arange(100, 2001, 100), -0.2 * np.arange(20.0))


@functools.cache
def vowel() -> synthesis.Token:
    """A synthetic vowel."""
    return synthesis.vowel("plain", synthesis.Speaker("s"), rng())


@functools.cache
def table() -> pd.DataFrame:
    """Formants of four speakers in two contexts."""
    draw = rng()
    return pd.DataFrame(
        [
            {"speaker": f"s{s}", "context": c, "F1": 500 + 20 * s + 40 * k + 9 * draw.standard_normal(),
             "F2": 1500 + 30 * s - 200 * k + 9 * draw.standard_normal()}
            for s in range(4) for k, c in enumerate(("plain", "tt")) for _ in range(4)
        ]
    )  # fmt: skip


@functools.cache
def film() -> np.ndarray:
    """One frame of a film."""
    return xray_film.render(tract.Articulation(), rng()).image


def traced() -> dict[str, np.ndarray]:
    return organs.contours(organs.Posture(tract.Articulation()))


def contour(shift: float = 0.0) -> np.ndarray:
    """Thirty points along an arc, cm."""
    t = np.linspace(0, 2, 30)
    return np.column_stack([3 * np.sin(t), 3 * np.cos(t) + shift * (1 + t)])


def trace() -> dict[str, Any]:
    """Delays (ms) of twelve frames in three talkspurts."""
    return {"delays_ms": 50 + 30 * rng().random(12), "spurts": np.repeat(np.arange(3), 4), "codec_name": "G.729"}


def filtered() -> dict[str, Any]:
    """A filter of eight taps, and signals for it."""
    return {"self": WLNLMS(8), "x": stereo(60, 1), "d": stereo(60, 3)}


def _call(**more: Any) -> dict[str, Any]:
    return {"name": "UDP", "codec": "G.729", "delay_ms": 50.0, "loss": 0.01, "seconds": 5.0, "seed": 1} | more


def said() -> np.ndarray:
    """16-bit samples at 8 kHz with voice in them."""
    from voicewire.voip.codecs import listening

    return listening.speech()[:8000]


def _cancelled() -> cancelling.Cancelled:
    return cancelling.Cancelled(noise(2000).reshape(-1, 2) / 10, 1000, noise(2000).reshape(-1, 2))


ECHO = {
    "echo.recordings.delay_estimation.phat": Case(
        lambda: {"far": noise(2000), "microphone": noise(2000, 2), "sr": 8000, "most": 0.1},
    ),
    "echo.recordings.cancellation.Cancelled.erle": Case(lambda: {"self": _cancelled(), "start": 0.1, "stop": 0.8}),
    "echo.recordings.cancellation.cancel_echo": Case(
        lambda: {"far": noise(8000), "microphone": noise(8000), "sr": 8000, "tail": 2.0, "delay": 0.0, "most": 100.0,
                 "length": None, "memory": 16.0, "passes": 1},
        free=("length",), ragged=("far", "microphone"),
    ),
    "echo.recordings.cancellation.cancel": Case(
        lambda: {"far": noise(2000).reshape(-1, 2), "microphone": noise(2000, 2).reshape(-1, 2), "sr": 1000,
                 "length": 8, "memory": 64.0, "passes": 1, "watch": print, "progress": False},
        free=("watch", "progress"), ragged=("far", "microphone"),
    ),
    "echo.dcd.WLDRRLSDCD": Case(
        lambda: {"length": 8, "forgetting": 0.999, "data_reuse": 1, "updates": 4, "bits": 16, "amplitude": 1.0,
                 "regularization": 1.0, "dtype": np.float64}, free=("dtype",), infinite=True,
    ),
    "echo.two_path_filter.Guarded": Case(lambda: {"length": 8, "sr": 8000.0, "memory": 64.0, "passes": 1}),
    "echo.two_path_filter.Guarded.process": Case(
        lambda: {**filtered(), "self": Guarded(8, 8000)}, empty=("x", "d"), ragged=("x", "d")
    ),
    "echo.dcd_uncompiled.WLDRRLSDCD": Case(
        lambda: {"length": 8, "forgetting": 0.999, "data_reuse": 1, "updates": 4, "bits": 16, "amplitude": 1.0,
                 "regularization": 1.0, "dtype": np.float64, "variant": "repaired"}, free=("dtype",), infinite=True,
    ),
    "echo.adaptive_filter.AdaptiveFilter.process": Case(filtered, empty=("x", "d")),
    "echo.adaptive_filter.AdaptiveFilter.update": Case(
        lambda: {"self": WLNLMS(8), "x_n": 0.1 + 0.2j, "d_n": 0.1 + 0.1j}
    ),
    "echo.adaptive_filter.AdaptiveFilter.restore": Case(lambda: {"self": WLNLMS(8), "state": WLNLMS(8).save()}),
    "echo.gradient.WLAPA": Case(
        lambda: {"length": 8, "order": 2, "step": 0.5, "regularization": 1e-3, "dtype": np.float64}, free=("dtype",)
    ),
    "echo.gradient.WLNLMS": Case(
        lambda: {"length": 8, "step": 0.5, "regularization": 1e-3, "dtype": np.float64}, free=("dtype",)
    ),
    "echo.gradient.StereoNLMS": Case(
        lambda: {"length": 8, "step": 0.5, "regularization": 1e-3, "dtype": np.float64}, free=("dtype",)
    ),
    "echo.rls.WLRLS": Case(
        lambda: {"length": 8, "forgetting": 0.999, "regularization": 1.0, "symmetric": True, "dtype": np.float64,
                 "data_reuse": 2}, free=("dtype",), infinite=True,
    ),
    "echo.rls.StereoRLS": Case(
        lambda: {"length": 8, "forgetting": 0.999, "regularization": 1.0, "dtype": np.float64, "data_reuse": 2},
        free=("dtype",), infinite=True,
    ),
    "echo.metrics.misalignment": Case(lambda: {"taps": stereo(8), "truth": stereo(8, 5)}),
    "echo.metrics.erle": Case(lambda: {"d": noise(100), "e": 0.01 * noise(100, 3)}, complex=("d", "e")),
    "echo.metrics.Curve.tracking_time": Case(
        lambda: {"self": curve(), "change_at": 300, "level": -2.0}, infinite=True
    ),
    "echo.metrics.Curve.steady": Case(lambda: {"self": curve(), "start": 500, "stop": 1500}),
    "echo.metrics.follow": Case(lambda: {"filter_": WLNLMS(8), "signals": signals(), "every": 100}),
    "echo.metrics.expected_tracking": Case(lambda: {"length": 128, "memory": 64.0, "reuse": 3, "level": -20.0}),
    "echo.metrics.expected_rise": Case(lambda: {"reuse": 3}),
    "echo.metrics.dcd_operations": Case(lambda: {"length": 128, "reuse": 3, "updates": 4}),
    "echo.operation_counts.count_operations": Case(lambda: {"length": 8, "reuse": 3}, free=("update",)),
    "echo.metrics.woodbury_operations": Case(lambda: {"length": 128}),
    "echo.metrics.nlms_operations": Case(lambda: {"length": 128}),
    "echo.widely_linear.complex_taps": Case(lambda: {"responses": room()}),
    "echo.widely_linear.responses": Case(lambda: {"taps": stereo(8)}),
    "echo.widely_linear.echo": Case(lambda: {"paths": room(), "x": stereo(50)}),
    "echo.scenes.room_impulse_responses.image_source": Case(
        lambda: {"length": 200, "sr": 8000.0, "size": np.array([4.0, 3.0, 2.5]),
                 "source": np.array([1.0, 1.0, 1.0]), "microphone": np.array([2.0, 2.0, 1.2]), "reflection": 0.7}
    ),
    "echo.scenes.room_impulse_responses.decaying": Case(lambda: {"length": 50, "rng": rng(), "decay": 10.0}),
    "echo.scenes.room_impulse_responses.room_response": Case(lambda: {"length": 50, "sr": 8000.0, "rng": rng()}),
    "echo.recordings.input_validation.stereo":
        Case(lambda: {"left": noise(50), "right": noise(50, 2)}, empty=("left", "right")),
    "echo.scenes.scene.predistort": Case(lambda: {"x": stereo(50), "amount": 0.4}),
    "echo.scenes.scene.changed": Case(lambda: {"paths": room(), "change": "drift", "rng": rng()}),
    "echo.scenes.scene.Signals.truth": Case(lambda: {"self": signals(), "n": 100}),
    "echo.scenes.scene.Scene": Case(
        lambda: {"length": 8, "samples": 400, "seed": 1, "source": "ar1", "predistortion": 0.4, "change": "sign",
                 "change_at": 200, "family": "decaying", "far_length": 16, "snr": 30.0, "double_talk": (100, 200)}
    ),
    "echo.misprint_effects.misprints": Case(lambda: {"signals": signals(), "memory": 8.0, "reuse": 2, "every": 100}),
    "echo.scenes.speech.utterances": Case(lambda: {"voices": "recorded"}),
    "echo.recorded_conversations.gaps": Case(lambda: {"family": "decaying", "epsilon": 1.0}),
    "echo.recorded_conversations.times": Case(lambda: {"family": "room", "epsilon": 1.0}),
    "echo.scenes.speech.talk": Case(lambda: {"seconds": 1.0, "seed": 1, "voices": "recorded"}),
}  # fmt: skip

_SETTINGS = formants.Settings()
PHARYNGEAL = {
    "pharyngeal.statistics.principal_components.fit":
        Case(lambda: {"contours": noise(60).reshape(10, 6) + 1, "count": 3}),
    "pharyngeal.statistics.principal_components.ArticulatoryModel.scores": Case(
        lambda: {
            "self": principal_components.fit(noise(60).reshape(10, 6) + 1), "contours": noise(12, 4).reshape(2, 6) + 1
        },
        ragged=("contours",),
    ),
    "pharyngeal.statistics.principal_components.ArticulatoryModel.contour": Case(
        lambda: {"self": principal_components.fit(noise(60).reshape(10, 6) + 1), "scores": noise(6, 4).reshape(2, 3)},
        ragged=("scores",),
    ),
    "pharyngeal.statistics.principal_components.ArticulatoryModel.error": Case(
        lambda: {
            "self": principal_components.fit(noise(60).reshape(10, 6) + 1), "contours": noise(12, 4).reshape(2, 6) + 1
        },
        ragged=("contours",),
    ),
    "pharyngeal.statistics.correlation.pearson": Case(lambda: {"x": noise(6), "y": noise(6, 3)}),
    "pharyngeal.statistics.correlation.leverage": Case(lambda: {"x": noise(6)}),
    "pharyngeal.statistics.correlation.leave_one_out": Case(lambda: {"x": noise(6), "y": noise(6, 3)}),
    "pharyngeal.statistics.correlation.permutation_test": Case(lambda: {"x": noise(5), "y": noise(5, 3)}),
    "pharyngeal.statistics.table_forensics.decimals": Case(lambda: {"printed": "0.654"}),
    "pharyngeal.statistics.table_forensics.agreement": Case(
        lambda: {"printed": "0.65", "value": 0.654}, nan=("value",), inf=("value",)
    ),
    "pharyngeal.statistics.table_forensics.mean_readings":
        Case(lambda: {"printed": "0.65", "tokens": {"a": 0.6, "b": 0.7}}),
    "pharyngeal.statistics.table_forensics.sd_readings":
        Case(lambda: {"printed": "0.65", "tokens": {"a": 0.6, "b": 0.7}}),
    "pharyngeal.statistics.table_forensics.difference_readings":
        Case(lambda: {"printed": "0.65", "values": {"a": 0.6, "b": 0.7}}),
    "pharyngeal.statistics.table_forensics.percent_readings":
        Case(lambda: {"printed": "0.65", "values": {"a": 0.6, "b": 0.7}}),
    "pharyngeal.statistics.table_forensics.missing_token": Case(
        lambda: {"printed_mean": "0.65", "tokens": np.array([0.6, 0.7, 0.8]), "printed_sd": "0.10"}
    ),
    "pharyngeal.statistics.table_forensics.tokens_for_sd": Case(lambda: {"printed_sd": "1.73", "tokens": [0.0, 2.0]}),
    "pharyngeal.statistics.table_forensics.unshift":
        Case(lambda: {"f1": 700.0, "f2": 1100.0, "third": 400.0, "fourth": 2500.0}),
    "pharyngeal.formants.Settings": Case(
        lambda: {"ceiling": 5000.0, "count": 5.0, "window": 0.025, "max_bandwidth": 600.0, "step": 0.005}
    ),
    "pharyngeal.formants.Track.at": Case(
        lambda: {"self": formants.track(vowel().sound), "time": 0.09}, infinite=True
    ),
    "pharyngeal.formants.track": Case(
        lambda: {"sound": vowel().sound, "tracker": "praat", "settings": _SETTINGS}, infinite=True
    ),
    "pharyngeal.formants.points": Case(lambda: {"start": 0.0, "end": 0.2, "steps": 9}),
    "pharyngeal.formants.measure": Case(
        lambda: {"sound": vowel().sound, "intervals": [textgrid.Interval("a", 0.02, 0.16)], "trackers": ["praat"],
                 "settings": _SETTINGS, "trajectory": 3}, infinite=True,
    ),
    "pharyngeal.formants.midpoint": Case(
        lambda: {"sound": vowel().sound, "tracker": "praat", "settings": _SETTINGS}, infinite=True
    ),
    "pharyngeal.own_vowel.measure": Case(
        lambda: {"sound": tract.speak(tract.Articulation(), 115.0, 0.6), "talker": "man"}, infinite=True
    ),
    "pharyngeal.own_vowel.show": Case(
        lambda: {"samples": tract.speak(tract.Articulation(), 115.0, 0.6).samples, "rate": 16000.0, "talker": "man"}
    ),
    "pharyngeal.second_tract.able": Case(lambda: {"rng": rng(), "count": 1, "share": 0.8}),
    "pharyngeal.second_tract.own_changes": Case(
        lambda: {"shapes": [tract.Articulation()], "rises": np.array([0.2]), "share": 0.8}
    ),
    "pharyngeal.formant_plausibility.limits": Case(lambda: {"talker": "man"}),
    "pharyngeal.formant_plausibility.tokens": Case(lambda: {"talker": "man"}),
    "pharyngeal.formant_plausibility.answers": Case(
        lambda: {"sound": vowel().sound, "intervals": [textgrid.Interval("a", 0.02, 0.16)], "talker": "man"},
        infinite=True,
    ),
    "pharyngeal.inversion.invert": Case(
        lambda: {"target": np.array([600.0, 1200.0]), "start": tract.Articulation(), "free": ("body", "jaw"),
                 "effort": 0.02}, ragged=("target",),
    ),
    "pharyngeal.inversion.family": Case(
        lambda: {"target": np.array([600.0, 1200.0]), "rng": rng(), "starts": 1, "larynx": 0.36, "tolerance": 0.9,
                 "free": ("body", "jaw")}, ragged=("target",),
    ),
    "pharyngeal.films.contour_measures.to_rest_frame": Case(
        lambda: {"points": contour(), "landmarks": contour()[:3], "rest_landmarks": contour()[:3] + 0.1},
        ragged=("points",),
    ),
    "pharyngeal.films.contour_measures.distances": Case(
        lambda: {"tongue": contour(0.3), "wall": contour()}, ragged=("tongue",)
    ),
    "pharyngeal.films.contour_measures.constriction": Case(
        lambda: {"tongue": contour(0.3), "wall": contour(), "between": (1.0, 4.0), "contact": 0.03},
        ragged=("tongue",),
    ),
    "pharyngeal.films.contour_measures.elevation": Case(lambda: {"depth": 6.0, "rest": 6.17}),
    "pharyngeal.films.contour_measures.perturbed": Case(
        lambda: {"tongue": contour(0.3), "wall": contour(), "noise": 0.01, "rng": rng(), "repeats": 3, "smooth": 0.6}
    ),
    "pharyngeal.audio_files.Sound": Case(lambda: {"samples": noise(500), "rate": 16000, "name": "s"}, free=("name",)),
    "pharyngeal.audio_files.Sound.part": Case(lambda: {"self": vowel().sound, "start": 0.05, "end": 0.1}),
    "pharyngeal.audio_files.is_silent": Case(lambda: {"samples": noise(500)}, empty=("samples",)),
    "pharyngeal.audio_files.is_clipped": Case(lambda: {"samples": noise(500)}, empty=("samples",)),
    "pharyngeal.synthesis.Speaker": Case(
        lambda: {"name": "s", "f0": 115.0, "scale": 1.0, "open_quotient": 0.6}, free=("name",)
    ),
    "pharyngeal.synthesis.Token.at": Case(lambda: {"self": vowel(), "time": 0.05}),
    "pharyngeal.synthesis.glottal_source": Case(
        lambda: {"f0": np.full(300, 115.0), "rate": 16000, "open_quotient": 0.6}
    ),
    "pharyngeal.synthesis.cascade": Case(
        lambda: {"source": noise(300), "formants": np.full((300, 3), 500.0) * [1, 2, 3], "rate": 16000,
                 "bandwidths": (70.0, 90.0, 130.0)}
    ),
    "pharyngeal.synthesis.add_noise": Case(lambda: {"samples": noise(300), "snr": 30.0, "rng": rng()}),
    "pharyngeal.synthesis.vowel": Case(
        lambda: {"context": "plain", "speaker": synthesis.Speaker("s"), "rng": rng(), "duration": 0.1, "snr": 30.0,
                 "scatter": 0.03, "formants": {1: 600.0}}
    ),
    "pharyngeal.synthesis.speakers": Case(lambda: {"count": 3, "rng": rng()}),
    "pharyngeal.synthesis.corpus": Case(
        lambda: {"people": [synthesis.Speaker("s")], "repetitions": 1, "rng": rng(), "snr": 30.0}
    ),
    "pharyngeal.films.film_audio_sync.labels": Case(
        lambda: {"intervals": [textgrid.Interval("a", 0.0, 0.2)], "rate": 25.0, "count": 10},
    ),
    "pharyngeal.films.film_audio_sync.marks": Case(lambda: {"frames": ["a", "a", ""], "rate": 25.0}, free=("frames",)),
    "pharyngeal.films.film_audio_sync.by_context": Case(
        lambda: {"values": noise(3), "frames": ["a", "b", ""], "contexts": {"a": "plain", "b": "plain"}},
        free=("frames", "contexts"),
    ),
    "pharyngeal.textgrid.Interval": Case(lambda: {"label": "a", "start": 0.0, "end": 1.0}, free=("label",)),
    "pharyngeal.tract.Articulation": Case(
        lambda: {"body": 0.1, "dorsum": 0.1, "root": 0.1, "root_place": 11.5, "tip": 0.1, "jaw": 0.1, "lips": 3.0,
                 "larynx": 0.1}
    ),
    "pharyngeal.tract.wall": Case(lambda: {"place": np.linspace(0.0, 12.0, 7)}),
    "pharyngeal.tract.wall_length": Case(lambda: {"depth": 6.0}),
    "pharyngeal.tract.check": Case(lambda: {"articulation": tract.Articulation()}),
    "pharyngeal.tract.outline": Case(lambda: {"articulation": tract.Articulation()}),
    "pharyngeal.tract.area_function": Case(lambda: {"articulation": tract.Articulation()}),
    "pharyngeal.tract.formants": Case(lambda: {"articulation": tract.Articulation(), "count": 4}, infinite=True),
    "pharyngeal.tract.moved": Case(lambda: {"articulation": tract.Articulation(), "body": 0.1}),
    "pharyngeal.tract.random_open": Case(lambda: {"rng": rng(), "least": 0.05, "root": 0.5}),
    "pharyngeal.tract.vector": Case(lambda: {"articulation": tract.Articulation()}),
    "pharyngeal.tract.speak": Case(lambda: {"articulation": tract.Articulation(), "f0": 115.0, "duration": 0.1}),
    "pharyngeal.tube.resonances": Case(
        lambda: {"areas": np.array([2.0, 3.0, 4.0]), "lengths": np.array([5.0, 6.0, 6.0]), "walls": True,
                 "radiation": True, "count": 4, "speed": 35300.0}, infinite=True,
    ),
    "pharyngeal.tube.response": Case(
        lambda: {"areas": np.array([2.0, 3.0, 4.0]), "lengths": np.array([5.0, 6.0, 6.0]),
                 "frequencies": np.array([100.0, 500.0]), "walls": True, "radiation": True}, ragged=("frequencies",),
    ),
    "pharyngeal.tube.uniform": Case(lambda: {"length": 17.0, "count": 4, "speed": 35300.0}),
    "pharyngeal.tube.two_tube": Case(
        lambda: {"back": (1.0, 8.0), "front": (7.0, 9.0), "count": 4, "speed": 35300.0}
    ),
    "pharyngeal.statistics.vowel_statistics.lobanov": Case(lambda: {"table": table(), "columns": ("F1", "F2")}),
    "pharyngeal.statistics.vowel_statistics.nearey": Case(lambda: {"table": table(), "columns": ("F1", "F2")}),
    "pharyngeal.statistics.vowel_statistics.ellipse":
        Case(lambda: {"x": noise(20), "y": noise(20, 3), "confidence": 0.68}),
    "pharyngeal.statistics.vowel_statistics.hedges": Case(
        lambda: {"a": noise(10), "b": noise(10, 3), "confidence": 0.95}, ragged=("a", "b")
    ),
    "pharyngeal.statistics.vowel_statistics.bootstrap_by_speaker": Case(
        lambda: {"table": table(), "formant": "F1", "contexts": ("plain", "tt"), "rng": rng(), "resamples": 50}
    ),
    "pharyngeal.statistics.vowel_statistics.mixed_model":
        Case(lambda: {"table": table(), "formant": "F1", "reference": "plain"}),
    "pharyngeal.statistics.principal_components.guided": Case(
        lambda: {"contours": noise(60).reshape(10, 6) + 1, "guides": noise(20, 5).reshape(10, 2), "count": 3}
    ),
    "pharyngeal.films.organs.Posture": Case(lambda: {"articulation": tract.Articulation(), "velum": 0.5}),
    "pharyngeal.films.organs.contours": Case(lambda: {"posture": organs.Posture(tract.Articulation())}),
    "pharyngeal.films.organs.layers": Case(lambda: {"posture": organs.Posture(tract.Articulation())}),
    "pharyngeal.films.organs.height": Case(lambda: {"organ": "hyoid", "contour": traced()["hyoid"]}),
    "pharyngeal.films.organs.guides": Case(lambda: {"organ": "lips", "contour": traced()["lips"]}),
    "pharyngeal.films.organs.render": Case(lambda: {"posture": organs.Posture(tract.Articulation()), "rng": rng()}),
    "pharyngeal.films.organs.film": Case(lambda: {"count": 1, "rng": rng(), "noise": 0.05}),
    "pharyngeal.tract_grid.Grid": Case(lambda: {"feet": contour(), "directions": contour()}),
    "pharyngeal.tract_grid.Grid.distances": Case(
        lambda: {"self": tract_grid.Grid(np.array([[0.5, 0.0], [2.5, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])),
                 "contour": contour()}
    ),
    "pharyngeal.tract_grid.adapted": Case(
        lambda: {"wall": tract.outline(tract.Articulation()).wall, "mouth": 4, "fan": 5, "pharynx": 6}
    ),
    "pharyngeal.formant_transitions.fit": Case(
        lambda: {"times": np.linspace(0.0, 0.1, 20), "values": 1500.0 + 300.0 * np.exp(-np.linspace(0.0, 5.0, 20))}
    ),
    "pharyngeal.films.keyframes.KeyTracker": Case(
        lambda: {"images": [film(), 0.9 * film()], "traced": [traced(), traced()]}, unlike=("images",)
    ),
    "pharyngeal.films.keyframes.KeyTracker.describe": Case(
        lambda: {"self": keyframes.KeyTracker([film(), 0.9 * film()], [traced()] * 2), "name": "hyoid",
                 "image": film()},
        unlike=("image",),
    ),
    "pharyngeal.films.keyframes.KeyTracker.track": Case(
        lambda: {"self": keyframes.KeyTracker([film(), 0.9 * film()], [traced()] * 2), "image": film()},
        unlike=("image",),
    ),
    "pharyngeal.films.xray_film.grey": Case(lambda: {"image": film()}, unlike=("image",)),
    "pharyngeal.films.xray_film.wander": Case(lambda: {"count": 5, "rng": rng(), "low": 0.0, "high": 1.0}),
    "pharyngeal.films.xray_film.pixels": Case(lambda: {"points": contour()}),
    "pharyngeal.films.xray_film.render": Case(
        lambda: {"articulation": tract.Articulation(), "rng": rng(), "noise": 0.05, "blur": 1.2, "occlusions": 2,
                 "layers": [(contour(), 0.5)]}
    ),
    "pharyngeal.films.xray_film.Tracker": Case(lambda: {"larynx": 5.0}),
    "pharyngeal.films.frame_brightness.levels": Case(
        lambda: {"tracker": xray_film.Tracker(), "image": film()}, free=("tracker",), unlike=("image",)
    ),
    "pharyngeal.films.frame_brightness.normal": Case(
        lambda: {"tracker": xray_film.Tracker(), "image": film()}, free=("tracker",), unlike=("image",)
    ),
    "pharyngeal.films.frame_brightness.look": Case(
        lambda: {"tracker": xray_film.Tracker(), "image": film()}, free=("tracker",), unlike=("image",)
    ),
    "pharyngeal.films.xray_film.Tracker.unwrap": Case(
        lambda: {"self": xray_film.Tracker(), "image": film()}, unlike=("image",)
    ),
    "pharyngeal.films.xray_film.Tracker.edge": Case(
        lambda: {"self": xray_film.Tracker(), "image": film()}, unlike=("image",)
    ),
    "pharyngeal.films.xray_film.Tracker.track": Case(
        lambda: {"self": xray_film.Tracker(), "image": film()}, unlike=("image",)
    ),
    "pharyngeal.films.xray_film.Tracker.contour":
        Case(lambda: {"self": xray_film.Tracker(), "opening": np.full(112, 0.5)}),
    "pharyngeal.films.xray_film.Tracker.truth": Case(
        lambda: {"self": xray_film.Tracker(), "shape": tract.outline(tract.Articulation())}
    ),
    "pharyngeal.films.xray_film.film": Case(lambda: {"count": 1, "rng": rng(), "noise": 0.05}),
}  # fmt: skip

NFC = {
    "nfc.control_slots.free_slots": Case(
        lambda: {"taken": 2, "sections": 3, "placement": "random", "rng": rng(), "section": 10}
    ),
    "nfc.control_slots.passes": Case(
        lambda: {"packets": [(8, 8), (1, 8)], "free": np.ones(60, int), "begins": np.arange(3)}
    ),
    "nfc.control_slots.script": Case(lambda: {"session": slot_sharing.ShortSession(), "rate": 848.0, "active": 1.5}),
    "nfc.control_slots.seconds": Case(
        lambda: {"session": slot_sharing.ShortSession(), "taken": 2, "placement": "random", "rng": rng(), "rate": 848.0,
                 "active": 1.5}
    ),
    "nfc.tcp.rto_estimator.estimated": Case(
        lambda: {"exchange": exchange.Exchange(packets=2), "runs": 2, "rng": rng(), "least": 1.0}
    ),
    "nfc.beyond.ethernet.Ethernet": Case(lambda: {"loss": 0.01, "load": 0.5, "service": 0.02, "room": 8}),
    "nfc.beyond.ethernet.Ethernet.dropped": Case(lambda: {"self": ethernet.Ethernet(load=0.5, room=8), "waiting": 2}),
    "nfc.fragmentation.FragmentedSession": Case(
        lambda: {"size": 5000, "mss": 2048, "window": 4096, "window_limit": 8192, "restart_window": 1024,
                 "latency": 0.08, "ethernet_delay": 0.01, "rto": 3.0, "backoff": True, "retransmissions": 12,
                 "duplicates": 3, "single_buffer": True, "link": link.Link(), "channel": channel.Channel(),
                 "recovery": session.LWIP, "rto_floor": 1.0, "ethernet": ethernet.Ethernet(), "mtu": 1500}
    ),
    "nfc.fragmentation.fragments": Case(lambda: {"data": 4000, "mtu": 1500}),
    "nfc.fragmentation.reassembled": Case(lambda: {"parts": fragmentation.fragments(4000, 1500)}),
    "nfc.fragmentation.slots_of_datagram": Case(lambda: {"link": link.Link(), "ip_bytes": 4000, "mtu": 1500}),
    "nfc.beyond.framing.byte_sum": Case(lambda: {"data": b"kettle"}),
    "nfc.beyond.framing.crc_a": Case(lambda: {"data": b"kettle"}),
    "nfc.beyond.framing.crc_b": Case(lambda: {"data": b"kettle"}),
    "nfc.beyond.framing.framed": Case(lambda: {"command": 1, "number": 2, "data": b"kettle", "check": "CRC"}),
    "nfc.beyond.framing.past_sum": Case(lambda: {"bits": 9, "first": 0}),
    "nfc.beyond.framing.undetected": Case(lambda: {"errors": np.ones((3, 112), int), "check": "CRC", "rng": rng()}),
    "nfc.beyond.framing.unframed": Case(lambda: {"frame": bytes(14), "check": "CRC"}),
    "nfc.readings.as_printed": Case(lambda: {"session": session.Session()}),
    "nfc.slot_sharing.power_share": Case(lambda: {"active": 1.5, "used": 1.0, "period": 0.01}),
    "nfc.experiments.TableReading.fits": Case(
        lambda: {"self": _reading(), "table": 0.01, "stall": 0.1}
    ),
    "nfc.experiments.control_efficiency": Case(
        lambda: {"scope": "round trip", "rounding": "none", "overhead": 14, "printed_zero": True}
    ),
    "nfc.experiments.lossy_times": Case(
        lambda: {"rule": "initial", "window": 4096, "runs": 1, "channel": channel.Channel.random(1e-5),
                 "duplicates": 3, "recovery": session.LWIP, "rto": 3.0}
    ),
    "nfc.experiments.error_channel": Case(lambda: {"kind": "burst", "rate": 1e-4}),
    "nfc.experiments.exchanges": Case(lambda: {"runs": 2, "latency": 0.07, "backoff": True}),
    "nfc.experiments.lossy_percentiles": Case(lambda: {"runs": 2, "alike": True}),
    "nfc.experiments.lossy_use": Case(lambda: {"runs": 2, "grows": True}),
    "nfc.experiments.gap_percentile": Case(
        lambda: {"burst": np.full(3, 50.0), "random": np.full(2, 100.0)}, ragged=("burst", "random")
    ),
    "nfc.readings.efficiency_readings": Case(lambda: {"rounding": "none"}),
    "nfc.readings.sessions_left": Case(lambda: {"within": 5.0, "control": True}),
    "nfc.readings.left_open": Case(
        lambda: {"values": np.ones((3, 2)), "printed": np.ones(2), "within": np.ones(2), "column": 1}
    ),
    "nfc.channel.Channel": Case(lambda: {"kind": 2, "to_bad": 1e-5, "to_good": 0.25, "every": 0}),
    "nfc.channel.Channel.random": Case(lambda: {"ber": 1e-4}),
    "nfc.channel.Channel.burst": Case(lambda: {"ber": 1e-4, "length": 4.0}),
    "nfc.channel.Channel.periodic": Case(lambda: {"every": 25}),
    "nfc.channel.Channel.loss": Case(lambda: {"self": channel.Channel.burst(1e-4), "bits": 4000}),
    "nfc.latency_formulas.latency": Case(lambda: {"session": session.Session()}),
    "nfc.exchange.Exchange": Case(
        lambda: {"packets": 10, "size": 500, "latency": 0.08, "rto": 3.0, "backoff": True, "retransmissions": 12,
                 "link": link.Link(), "channel": channel.Channel.random(1e-5)}
    ),
    "nfc.exchange.Exchange.trace": Case(
        lambda: {"self": exchange.Exchange(5, channel=channel.Channel.random(1e-4)), "rng": rng()}
    ),
    "nfc.exchange.Exchange.run": Case(
        lambda: {"self": exchange.Exchange(5, channel=channel.Channel.random(1e-4)), "runs": 3, "rng": rng()}
    ),
    "nfc.exchange.Outcomes.percentile": Case(
        lambda: {"self": exchange.Exchange(5).run(3, rng()), "seconds": 90.0}
    ),
    "nfc.link.Link": Case(lambda: {"period": 0.01, "payload": 10, "framing": 6}),
    "nfc.link.Link.from_rate": Case(lambda: {"rate": 11200.0, "chunk": 14, "payload": 10}),
    "nfc.link.Link.slots": Case(lambda: {"self": link.Link(), "ip_bytes": 540}),
    "nfc.link.Link.slots_of_time": Case(lambda: {"self": link.Link(), "seconds": 0.08}),
    "nfc.link.segment_sizes": Case(lambda: {"total": 5000, "mss": 1024}),
    "nfc.session.Recovery": Case(
        lambda: {
            "repeat_waits": True, "byte_counting": False, "timer_runs_on": True, "outlasts_timeout": False,
            "halves_window": True,
        }
    ),
    "nfc.experiments.lossy_gains": Case(lambda: {"runs": 2}),
    "nfc.session.Session": Case(
        lambda: {"size": 5000, "mss": 1024, "window": 4096, "window_limit": 8192, "restart_window": 1024,
                 "latency": 0.08, "ethernet_delay": 0.01, "rto": 3.0, "backoff": True, "retransmissions": 12,
                 "duplicates": 3, "single_buffer": True, "link": link.Link(), "channel": channel.Channel(),
                 "recovery": session.LWIP, "rto_floor": 1.0, "ethernet": ethernet.Ethernet()}
    ),
    "nfc.session.Session.run": Case(
        lambda: {"self": session.Session(channel=channel.Channel.random(1e-5)), "rng": rng(), "log": True}
    ),
    "nfc.session.Result.lines": Case(lambda: {"self": session.Session().run(log=True), "count": 3}),
    "nfc.slot_sharing.ShortSession": Case(
        lambda: {"size": 1000, "overhead": 14, "framing": 6, "latency": 0.08, "scope": "round trip", "period": 0.01}
    ),
    "nfc.slot_sharing.ShortSession.payload": Case(
        lambda: {"self": slot_sharing.ShortSession(), "rate": 424.0, "active": 5.0}
    ),
    "nfc.slot_sharing.ShortSession.packets": Case(
        lambda: {"self": slot_sharing.ShortSession(), "rate": 424.0, "active": 5.0}
    ),
    "nfc.slot_sharing.ShortSession.seconds": Case(
        lambda: {"self": slot_sharing.ShortSession(), "rate": 424.0, "active": 5.0, "share": 0.5, "rounding": "packet"}
    ),
    "nfc.slot_sharing.shared": Case(lambda: {"slots": 20, "share": 0.5, "rounding": "section", "section": 10}),
    "nfc.slot_sharing.latency_map": Case(
        lambda: {"session": slot_sharing.ShortSession(), "rates": (106.0, 424.0), "active": np.array([4.0, 5.0])},
        ragged=("active",),
    ),
}  # fmt: skip


def _reading() -> Any:
    from voicewire_book.chapters.nfc.experiments import TableReading

    return TableReading(6, 3, 5000, 0.08, True, (0.01, 0.02), 0.15)


def _packets() -> dict[str, Any]:
    n = np.arange(12)
    return {
        "times": 0.02 * n, "numbers": n, "frame_ms": 20.0, "stamps": 160 * n, "clock_hz": 8000.0, "markers": n == 0,
        "frames": n >= 0,
    }  # fmt: skip


def _stream() -> Any:
    return received.in_order(**_packets())


def _rtp() -> Any:
    n = np.arange(12)
    return rtp.Stream(0.02 * n, n, 160 * n, n == 0, np.zeros(12, dtype=np.int64))


VOIP = {
    "voip.playout_rules.adaptive_playout.moon":
        Case(lambda: trace() | {"share": 0.9, "memory": 100}, inf=("delays_ms",)),
    "voip.playout_rules.adaptive_playout.ramjee": Case(lambda: trace() | {"factor": 4.0}, inf=("delays_ms",)),
    "voip.loss_bursts.best_fixed": Case(
        lambda: {"delays_ms": trace()["delays_ms"], "ie": 11.0, "bpl": 19.0}, inf=("delays_ms",), infinite=True
    ),
    "voip.loss_bursts.burst_ratio": Case(lambda: {"lost": np.arange(9) % 3 == 0}, unlike=("lost",)),
    "voip.loss_bursts.effective_impairment": Case(lambda: {"loss": 0.1, "ie": 11.0, "bpl": 19.0, "burst": 2.0}),
    "voip.loss_bursts.losses": Case(lambda: {"rng": rng(), "frames": 50, "loss": 0.1, "burst": 3.0}),
    "voip.calls.delays_ms": Case(
        lambda: {"spoken": np.arange(5) * 20_000_000, "arrive": np.arange(5) * 20_000_000 + 50_000_000},
        infinite=True,
    ),
    "voip.calls.call": Case(lambda: _call(spoken=None, bottleneck=None, log=False)),
    "voip.playout_rules.chernoff_bound.chernov_delay": Case(
        lambda: {"delays_ms": trace()["delays_ms"], "late": 0.1}, inf=("delays_ms",)
    ),
    "voip.startup_padding.exchange": Case(
        lambda: {"name": "TFRC", "codec": "G.729", "delay_ms": 50.0, "loss": 0.01, "patience_s": 1.0, "seed": 1,
                 "bottleneck": None}
    ),
    "voip.calls.udp_closed_form": Case(lambda: {"codec": "G.729", "delay_ms": 50.0}),
    "voip.dccp.importance.Candidate": Case(lambda: {"size": 100, "importance": 1.0, "expires": 0.1}),
    "voip.dccp.importance.best_set": Case(
        lambda: {"packets": [importance.Candidate(100, 1.0, 0.1)], "rate": 1000.0}
    ),
    "voip.dccp.importance.best_set_by_force": Case(
        lambda: {"packets": [importance.Candidate(100, 1.0, 0.1)], "rate": 1000.0}
    ),
    "voip.dccp.importance.frame_importance": Case(lambda: {"pcm": noise(500) * 1e4, "frame": 160}),
    "voip.dccp.late.late_choice": Case(
        lambda: {"packets": [bytes(60)] * 6, "importance": np.arange(6.0), "rate": 2000.0, "patience": 0.1,
                 "frame": 0.02, "slots": 16, "choose": True}
    ),
    "voip.dccp.sequence_numbers.lengthen": Case(lambda: {"short": 5, "near": 2**30}),
    "voip.dccp.sequence_numbers.resynchronise": Case(lambda: {"lost": 80}),
    "voip.emodel.codec": Case(lambda: {"name": "g729"}),
    "voip.emodel.delay_impairment": Case(
        lambda: {"delay_ms": np.array([50.0, 250.0])}, shapeless=("delay_ms",), empty=("delay_ms",)
    ),
    "voip.emodel.loss_impairment": Case(
        lambda: {"loss": np.array([0.0, 0.1]), "codec_name": "G.711"}, shapeless=("loss",), empty=("loss",)
    ),
    "voip.emodel.r_factor": Case(
        lambda: {"delay_ms": np.array([50.0, 250.0]), "loss": np.array([0.0, 0.1]), "codec_name": "G.711"},
        shapeless=("delay_ms", "loss"),
    ),
    "voip.emodel.mos": Case(lambda: {"r": np.array([50.0, 90.0])}, shapeless=("r",), empty=("r",)),
    "voip.emodel.quality": Case(lambda: {"r": 85.0}),
    "voip.emodel.planned": Case(
        lambda: {"sender_noise": np.array([35.0, 60.0]), "receiver_noise": np.array([40.0, 50.0]), "slr": 8.0,
                 "rlr": 2.0, "stmr": 15.0, "units": 1.0},
        shapeless=("sender_noise", "receiver_noise"),
    ),
    "voip.operating_points.Curve.at": Case(lambda: {"self": _curve(), "x": 50.0}),
    "voip.experiments.jain": Case(lambda: {"rates": np.array([1.0, 2.0, 3.0])}),
    "voip.experiments.shared_link": Case(
        lambda: {"name": "UDP", "codec": "G.729", "kbit_s": 64.0, "calls": 2, "seconds": 2.0, "delay_ms": 50.0,
                 "bulk_flows": 1, "red": None, "seed": 1, "packets": 50}
    ),
    "voip.codec_switching.switched_link": Case(
        lambda: {"name": "TFRC SP", "kbit_s": 64.0, "upper": "G.711", "lower": "G.729", "calls": 2, "seconds": 2.0,
                 "delay_ms": 50.0, "bulk_flows": 1, "seed": 1, "packets": 50, "at_random": False}
    ),
    "voip.codec_switching.mixed_r": Case(
        lambda: {"delays_ms": np.array([50.0, 60.0]), "spurts": np.array([0, 0]),
                 "shares": {"G.711": 0.5, "G.729": 0.5}},
        inf=("delays_ms",),
    ),
    "voip.dccp.features.settle": Case(lambda: {"client": [2, 3], "server": [3, 2], "lost": [0], "rtt": 100}),
    "voip.experiments.sensitivity": Case(
        lambda: {"name": "TFRC", "codec": "G.729", "delay_ms": 50.0, "loss": 0.01, "calls": 1, "seconds": 2.0}
    ),
    "voip.codecs.listening.activity": Case(lambda: {"pcm": said(), "level": 2}, unlike=("pcm",)),
    "voip.codecs.listening.coded": Case(lambda: {"pcm": said(), "coder": "G.711 µ-law"}, unlike=("pcm",)),
    "voip.codecs.listening.transmit": Case(lambda: {"pcm": said(), "call_": _spoken()}, unlike=("pcm",), free=("pcm",)),
    "voip.codecs.listening.heard": Case(
        lambda: {"pcm": said(), "transport": "UDP", "codec": "G.711", "delay_ms": 50.0, "loss": 0.0, "seed": 0,
                 "repeat": 1}, unlike=("pcm",),
    ),
    "voip.codecs.listening.whole_frames": Case(lambda: {"pcm": said()}, unlike=("pcm",)),
    "voip.codecs.distortion_measures.segmental_snr": Case(
        lambda: {"said": said(), "heard": said() // 2}, unlike=("said", "heard"), ragged=("said", "heard")
    ),
    "voip.codecs.distortion_measures.log_spectral_distance": Case(
        lambda: {"said": said(), "heard": said() // 2}, unlike=("said", "heard"), ragged=("said", "heard")
    ),
    "voip.codecs.opus.has_copy": Case(lambda: {"packet": b"\x08\xc0"}),
    "voip.codecs.redundant_frames.missing_with_copies": Case(lambda: {"loss": 0.1, "burst": 3.0}),
    "voip.codecs.redundant_frames.second_chance": Case(
        lambda: {"delays_ms": trace()["delays_ms"], "spurts": trace()["spurts"], "interval_ms": 20.0},
        inf=("delays_ms",), infinite=True,
    ),
    "voip.codecs.redundant_frames.through": Case(
        lambda: {"arm": "G.711, repeated", "pcm": said(), "lost": np.arange(50) % 5 == 0}, unlike=("pcm", "lost")
    ),
    "voip.playout.as_trace": Case(lambda: {k: v for k, v in trace().items() if k != "codec_name"}, inf=("delays_ms",)),
    "voip.playout.bound": Case(trace, inf=("delays_ms",)),
    "voip.playout.per_talkspurt": Case(
        lambda: trace() | {"playout_ms": np.array([60.0, 70.0, 80.0])}, inf=("delays_ms",), nan=("playout_ms",)
    ),
    "voip.playout.fixed": Case(lambda: trace() | {"delay_ms": 70.0}, inf=("delays_ms",)),
    "voip.playout_recursion.brute_force": Case(trace, inf=("delays_ms",)),
    "voip.playout_recursion.repaired_costs": Case(
        lambda: {k: v for k, v in trace().items() if k != "codec_name"}, inf=("delays_ms",), infinite=True
    ),
    "voip.playout_recursion.repaired_recursion": Case(trace, inf=("delays_ms",)),
    "voip.playout_recursion.printed_recursion": Case(trace, inf=("delays_ms",)),
    "voip.captures.received.in_order": Case(_packets),
    "voip.captures.received.score": Case(lambda: {"stream": _stream(), "codec_name": "G.711", "delay_ms": 50.0}),
    "voip.captures.clock_skew.clock_drift": Case(lambda: {"stream": _stream()}, infinite=True),  # nan of too few frames
    "voip.captures.clock_skew.without_drift": Case(
        lambda: {"stream": _stream(), "drift": clock_skew.Drift(80.0, 5.0, "")}, infinite=True
    ),
    "voip.captures.rtp.clock_of": Case(lambda: {"stream": _rtp()}),
    "voip.conversation.talk": Case(lambda: {"rng": rng(), "seconds": 5.0, "on": 1.0, "off": 1.5, "interval_ms": 20.0}),
    "voip.conversation.from_activity": Case(lambda: {"active": np.array([0, 1, 1, 0, 1]), "interval_ms": 20.0}),
    "voip.send_buffer.estimated_rate": Case(
        lambda: {"spoken": np.arange(4) * 20, "returned": np.array([0, 40, 80, 120]), "payload": 20},
        infinite=True,  # NaN where no two writes block one after the other
    ),
    "voip.send_buffer.write_times": Case(
        lambda: {"spoken": np.arange(4) * 20, "sent": np.arange(4) * 40, "places": 1}
    ),
    "voip.transports.transport": Case(lambda: {"name": "TFRC", "codec": "G.729", "buffer": 5}),
}  # fmt: skip


def _curve() -> Any:
    from voicewire_book.chapters.voip.operating_points import Curve

    return Curve(np.array([25.0, 50.0]), np.array([[80.0, 81.0], [70.0, 71.0]]))


@functools.cache
def _spoken() -> Any:
    from voicewire.voip.calls import call

    return call("UDP", "G.711", delay_ms=50.0, spoken=conversation.from_activity(np.array([0, 1, 1, 0, 1])))


def _flow() -> netsim.Flow:
    return netsim.Flow(np.arange(20) * 20_000_000, 20, netsim.Udp(), netsim.Path(50.0))


NETSIM = {
    "netsim.equation.rate": Case(
        lambda: {"s": np.array([1460.0, 160.0]), "rtt": np.array([0.1, 0.2]), "p": np.array([0.01, 0.1])},
        shapeless=("s", "rtt", "p"),
    ),
    "netsim.equation.loss_rate": Case(
        lambda: {"x": np.array([1e5, 2e5]), "s": np.array([1460.0, 160.0]), "rtt": np.array([0.1, 0.2])},
        shapeless=("x", "s", "rtt"),
    ),
    "netsim.equation.small_packet_rate": Case(
        lambda: {"s_true": np.array([20.0, 160.0]), "rtt": np.array([0.1, 0.2]), "p": np.array([0.01, 0.1])},
        shapeless=("s_true", "rtt", "p"),
    ),
    "netsim.equation.average_interval": Case(lambda: {"intervals": np.array([3.0, 10.0, 20.0])}, ragged=("intervals",)),
    "netsim.equation.rfc4828_table": Case(
        lambda: {"packet_drop_rate": np.array([0.01, 0.1]), "segment": 1460, "rtt": 0.1},
        shapeless=("packet_drop_rate",), empty=("packet_drop_rate",),
    ),
    "netsim.links.Path": Case(
        lambda: {"delay_ms": 50.0, "loss": 0.01, "loss_back": 0.02, "jitter_ms": 3.0, "burst": (0.01, 0.5, 0.9),
                 "lossy_s": 5.0}
    ),
    "netsim.links.Red": Case(lambda: {"low": 5.0, "high": 15.0, "max_p": 0.1, "weight": 0.002, "ecn": False}),
    "netsim.links.Bottleneck": Case(lambda: {"kbit_s": 64.0, "packets": 50, "red": netsim.Red()}),
    "netsim.senders.initial_window": Case(lambda: {"mss": 1460.0, "rfc": 3390}),
    "netsim.senders.Tcp": Case(
        lambda: {"mss": 1460, "rfc": 3390, "rto_min": 1.0, "ack_every": 2, "ack_delay_ms": 200.0, "window": 65535,
                 "ecn": False, "idle_since": "sent", "nodelay": False, "joins": True, "cuts": True}
    ),
    "netsim.senders.Tfrc": Case(
        lambda: {"small": False, "restart": 2.0, "start": 2.0, "fast_max": False, "floor_packets": 0.0,
                 "modern": False, "buffer": 5,
                 "drop_oldest": False, "credit_ms": 0.0, "x_recv": "ccid3", "first_interval": "counted",
                 "initial_packets": 1.0, "idle_packets": 4.0, "ecn": False, "schedule": "nominal",
                 "report_moves": True, "timeout_restart": True, "report_after": 4, "short_open": False,
                 "restart_packets": 8.0, "discount": 0.5, "lower": 10, "frame_ms": 20.0, "pads": True, "late": False,
                 "packet_size": "average"}
    ),
    "netsim.senders.Ccid2": Case(
        lambda: {"buffer": 5, "drop_oldest": False, "ack_every": 2, "ack_delay_ms": 200.0, "rto_min": 1.0,
                 "ecn": False}
    ),
    "netsim.simulation.Flow": Case(
        lambda: {"frames": np.arange(20) * 20_000_000, "payload": 20, "sender": netsim.Tfrc(),
                 "path": netsim.Path(50.0), "header": 40, "sizes": np.full(20, 10),
                 "importance": np.ones(20)}
    ),
    "netsim.simulation.bulk": Case(lambda: {"segments": 10, "start_ns": 5}),
    "netsim.simulation.simulate": Case(
        lambda: {"flows": [_flow()], "bottleneck": netsim.Bottleneck(64.0), "seed": 1, "until_s": 3.0, "log": False}
    ),
}  # fmt: skip

REST = {
    "stats.Interval": Case(lambda: {"estimate": 1.0, "low": 0.5, "high": 1.5, "confidence": 0.95, "n": 10}),
    "stats.t_interval": Case(lambda: {"samples": noise(10), "confidence": 0.95}),
    "stats.bootstrap_interval": Case(
        lambda: {"samples": noise(10), "statistic": np.median, "rng": rng(), "resamples": 100, "confidence": 0.95}
    ),
    "stats.autocorrelation": Case(lambda: {"x": noise(10)}),
    "stats.effective_size": Case(lambda: {"x": noise(10)}),
    "stats.quartiles": Case(lambda: {"samples": noise(10)}),
    "audio.player": Case(
        lambda: {"samples": noise(100), "rate": 8000, "label": "x"}, unlike=("samples",), free=("label",)
    ),
    "audio.compare": Case(
        lambda: {"sounds": {"a": noise(4000), "b": noise(4000)}, "rate": 8000, "label": "x", "equal": True},
        unlike=("sounds",),
        free=("label",),
    ),
    "loudness.loudness": Case(lambda: {"samples": noise(4000), "rate": 8000.0}),
    "loudness.k_weighting": Case(lambda: {"rate": 8000.0}),
    "audio.encode": Case(lambda: {"samples": noise(100), "rate": 8000, "bits": 16}, unlike=("samples",)),
    "transport.analysis.goodput": Case(
        lambda: {"size": 100, "header": np.array([100.0, 200.0]), "payload": np.array([150.0, 120.0])},
        shapeless=("header", "payload"),
    ),
    "transport.analysis.coverage": Case(
        lambda: {"times": 5 + noise(30), "rng": rng(), "resamples": 20, "n": 10}
    ),
    "transport.access_point.arrivals": Case(lambda: {"frames": 3, "hops": 2, "each": 0.1, "shared": True}),
    "transport.access_point.counted": Case(lambda: {"transport": "MQTT", "octets": 1000, "rate": 1e6}),
    "transport.qos_guarantees.bound": Case(lambda: {"qos": 1, "rtt": 0.04, "timeouts": True}),
    "transport.experiment_grid.Cell": Case(
        lambda: {"network": "lan", "transport": "mqtt", "qos": 1, "session": "fresh", "kind": "bytes", "size": 100,
                 "gap": 0.5, "nodelay": True, "iterations": 10}
    ),
    "transport.experiment_grid.full_grid": Case(lambda: {"iterations": 3}),
    "transport.experiment_grid.small_grid": Case(lambda: {"network": "lan", "iterations": 3}),
    "transport.coap_theory.exchanges": Case(lambda: {"size": 10_000}),
    "transport.coap_theory.failure": Case(lambda: {"loss": 0.1, "known": True}),
    "transport.coap_theory.given_up": Case(lambda: {"loss": 0.1, "known": True, "repeats": 4}),
    "transport.coap_theory.expected_delay": Case(lambda: {"loss": 0.1, "rtt": 0.04, "known": True, "repeats": 4}),
    "transport.coap_theory.longest_wait": Case(lambda: {"timeout": 2.0, "repeats": 4}),
    "transport.overhead_formulas.flights": Case(lambda: {"transport": "mqtt", "qos": 1, "session": "fresh"}),
    "transport.overhead_formulas.round_trips": Case(lambda: {"transport": "mqtt", "qos": 1, "session": "fresh"}),
    "transport.overhead_formulas.slow_start_rounds": Case(lambda: {"size": 100_000, "window": 10}),
    "transport.overhead_formulas.delivery_time": Case(
        lambda: {"transport": "mqtt", "qos": 1, "session": "fresh", "rtt": 0.01, "size": 1000, "rate": 1e6}
    ),
    "transport.overhead_formulas.least_header_bytes": Case(lambda: {"size": 1000, "mss": 1460, "header": 20}),
    "transport.overhead_formulas.packet_bytes": Case(lambda: {"size": 1000, "qos": 1, "topic": "a/b"}, free=("topic",)),
    "transport.overhead_formulas.advise": Case(
        lambda: {"rtt": 0.01, "size": 1000, "messages": 3, "subscribers": 2, "sealed": True}
    ),
    "emqtt.counting.messages": Case(lambda: {"reading": "all", "n": 5}),
    "emqtt.in_memory_exchange.exchange": Case(
        lambda: {"qos": 3, "off": [2], "back": True, "subscribers": 2, "waited": 2}
    ),
    "emqtt.interactive_panel.Panel": Case(lambda: {"subscribers": 2}),
    "emqtt.interactive_panel.Panel.do": Case(lambda: {"self": Panel(), "action": {"do": "off", "who": 1}}),
    "emqtt.interactive_panel.play": Case(lambda: {"asked": '{"subscribers": 2, "actions": []}'}, free=("asked",)),
    "emqtt.counting.received": Case(lambda: {"reading": "all", "n": 5}),
    "emqtt.counting.sent": Case(lambda: {"reading": "all", "n": 5}),
    "emqtt.counting.with_subscriptions": Case(lambda: {"reading": "all", "n": 5, "count_suback": True}),
    "emqtt.counting.publish_size": Case(lambda: {"qos": 3, "ids": 4}),
    "emqtt.counting.papers_count": Case(lambda: {"size": 100}),
    "testbed.link.LinkSpec": Case(
        lambda: {"delay": 0.01, "jitter": 0.001, "rate": 1e6, "queue": 100, "loss": 0.01, "mtu": 1500,
                 "reorder": False}
    ),
    "testbed.link.netem_arguments": Case(lambda: {"spec": _spec()}),
}  # fmt: skip


def _spec() -> Any:
    from voicewire.testbed.link import LinkSpec

    return LinkSpec(delay=0.01)


JOURNEY = {
    "voip.judging_lab.worlds": Case(lambda: {"labels": 3, "calls": 4, "runs": 2, "seed": 1}),
    "journey.sentence.Phone": Case(
        lambda: {"sign": "a", "frames": 5, "shape": tract.Articulation(), "voice": 1.0, "noise": 0.1}, free=("sign",)
    ),
    "journey.sentence.phones": Case(lambda: {"emphatic": True}),
    "journey.sentence.say": Case(lambda: {"emphatic": True, "f0": 118.0, "seed": 1}),
    "journey.sentence.telephone": Case(lambda: {"sound": Sound(noise(200), 16_000, "a")}),
    "journey.stations.room": Case(lambda: {"voice": noise(1600), "passes": 1, "moved": True, "seed": 2}),
    "journey.stations.loud": Case(lambda: {"samples": noise(50)}),
    "journey.stations.crossings": Case(lambda: {"size": 700, "mss": 256, "ber": 1e-5, "runs": np.arange(2)}),
}

CASES: dict[str, Case] = JOURNEY | ECHO | PHARYNGEAL | NFC | VOIP | NETSIM | REST
