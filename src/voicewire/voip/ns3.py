"""The same calls in ns-3, another's simulator, as the witness of this one's UDP and TCP; optional (extra `ns3`).

Same talk, same settings of TCP, same playout bound. Losses come from ns-3's own stream, so a single call differs, and
what may be compared are medians over calls. ns-3 knows no DCCP: the TFRC variants have no witness here.

What TCP does is asked for by attribute: NewReno with the classic recovery, where ns-3 would take CUBIC with
proportional rate reduction; SACK and timestamps; window, segment size, initial window, delayed acknowledgements and
least time-out from our sender. Two things differ and cannot be asked for: ns-3 lets the window grow with acknowledged
bytes (RFC 3465), not with acknowledgements, and doesn't close it after a silence (RFC 2581 section 4.1). Where voice
needs less than the initial window in a round trip, neither is seen; G.711 beyond some 270 ms needs more.
"""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from voicewire.netsim.errors import NetsimError
from voicewire.netsim.flow_state import SECOND
from voicewire.netsim.links import Path
from voicewire.netsim.senders import Tcp, initial_window
from voicewire.voip import playout
from voicewire.voip.calls import delays_ms
from voicewire.voip.conversation import Talk, talk
from voicewire.voip.emodel import codec as codec_of
from voicewire.voip.errors import VoipError
from voicewire.voip.paper import Codec
from voicewire.voip.transports import transport

__all__ = ["NAMES", "Call", "available", "call"]

NAMES = ("UDP", "TCP")
REST = 30 * SECOND  # after the last frame, as `voicewire.netsim.simulate` has it

_SOURCE = r"""
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include <limits>
#include <unordered_map>

namespace voicewire {
using namespace ns3;

struct Settings {
  bool tcp;
  int64_t delay;  // times are in nanoseconds
  double loss;
  uint64_t seed;
  uint32_t payload, mss, initial_segments, ack_every, window;
  int64_t ack_delay, rto_min;
};

class Conversation {
 public:
  Conversation(const Settings& settings, const int64_t* times, size_t frames, int64_t* arrive)
      : s(settings), times(times), frames(frames), arrive(arrive), start(4 * s.delay + 1'000'000'000) {}

  // Whether every frame was taken by the socket.
  bool Run(int64_t rest) {
    Configure();
    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(100'000'000'000)));  // sending takes nanoseconds
    link.SetDeviceAttribute("Mtu", UintegerValue(s.mss + 120));  // options included, or full segments are cut in two
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(s.delay)));
    NetDeviceContainer devices = link.Install(nodes);
    for (uint32_t i = 0; i < 2; ++i) {
      Ptr<RateErrorModel> losses = CreateObject<RateErrorModel>();
      losses->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
      losses->SetRate(s.loss);
      losses->AssignStreams(i);  // else the draws would depend on what this process simulated before
      losses->Disable();         // the handshake is spared
      devices.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(losses));
      Simulator::Schedule(NanoSeconds(start), &RateErrorModel::Enable, losses);
    }
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Ipv4AddressHelper address;
    address.SetBase("10.1.1.0", "255.255.255.0");
    Ipv4InterfaceContainer at = address.Assign(devices);
    TypeId kind = s.tcp ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId();
    Ptr<Socket> listener = Socket::CreateSocket(nodes.Get(1), kind);
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 5000));
    if (s.tcp) {
      listener->Listen();
      listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&Conversation::Accept, this));
    } else {
      listener->SetRecvCallback(MakeCallback(&Conversation::TakeDatagrams, this));
    }
    speaker = Socket::CreateSocket(nodes.Get(0), kind);
    speaker->Bind();
    Simulator::ScheduleNow(&Conversation::Connect, this, Address(InetSocketAddress(at.GetAddress(1), 5000)));
    Simulator::Schedule(NanoSeconds(start + times[0]), &Conversation::Say, this);
    Simulator::Stop(NanoSeconds(start + times[frames - 1] + rest));
    Simulator::Run();
    Simulator::Destroy();
    return said == frames && !refused;
  }

 private:
  Settings s;
  const int64_t* times;
  size_t frames;
  int64_t* arrive;
  int64_t start;
  Ptr<Socket> speaker;
  size_t said = 0, delivered = 0;
  uint64_t bytes = 0;
  bool refused = false;
  std::unordered_map<uint64_t, size_t> underway;

  void Configure() {
    RngSeedManager::SetRun(s.seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MaxWindowSize", UintegerValue(s.window));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(NanoSeconds(s.rto_min)));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(s.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(s.initial_segments));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(s.ack_every));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(NanoSeconds(s.ack_delay)));
    Config::SetDefault("ns3::TcpSocket::ConnTimeout", TimeValue(NanoSeconds(start)));
    // as ours: room for the whole call, and no giving up
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(s.payload * frames));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(std::numeric_limits<uint32_t>::max()));
  }

  int64_t Now() const { return Simulator::Now().GetNanoSeconds() - start; }

  void Connect(Address to) { speaker->Connect(to); }

  void Say() {
    Ptr<Packet> frame = Create<Packet>(s.payload);
    underway[frame->GetUid()] = said;
    refused |= speaker->Send(frame) != static_cast<int>(s.payload);
    if (++said < frames) Simulator::Schedule(NanoSeconds(times[said] - Now()), &Conversation::Say, this);
  }

  void Accept(Ptr<Socket> socket, const Address&) {
    socket->SetRecvCallback(MakeCallback(&Conversation::TakeBytes, this));
  }

  void TakeBytes(Ptr<Socket> socket) {
    for (Ptr<Packet> p = socket->Recv(); p && p->GetSize(); p = socket->Recv()) bytes += p->GetSize();
    while ((delivered + 1) * s.payload <= bytes) arrive[delivered++] = Now();
  }

  void TakeDatagrams(Ptr<Socket> socket) {
    for (Ptr<Packet> p = socket->Recv(); p; p = socket->Recv()) arrive[underway.at(p->GetUid())] = Now();
  }
};
}
"""


@dataclass(frozen=True)
class Call:
    """A call in ns-3 and its score; the fields are those of `voicewire.voip.calls.Call`.

    Attributes
    ----------
    talk : what was spoken
    delays_ms : one-way delay of each frame, inf where it never came; shape (frames,)
    playout : the bound's choice, with R

    Examples
    --------
    >>> from voicewire.voip import conversation, playout
    >>> words = conversation.from_activity([1, 1])
    >>> delays = np.array([50.0, 50.0])
    >>> Call(words, delays, playout.bound(delays, words.spurts, "G.711")).playout.played
    2
    """

    talk: Talk
    delays_ms: NDArray[np.float64]
    playout: playout.Playout

    @property
    def r(self) -> float:
        """R under the playout bound of section 4.3."""
        return self.playout.r


def available() -> bool:
    """Whether ns-3 is installed; it is not imported, which would take many seconds."""
    return importlib.util.find_spec("ns") is not None and importlib.util.find_spec("cppyy") is not None


@cache
def _compiled() -> Any:
    """Import ns-3 and compile the experiment, once a process.

    ns-3's interpreter then writes "Failed to materialize symbols: … g_timeInitHelper" to stderr. That is a static
    initialiser of ns-3's header of times, of which the library itself runs its own copy; nothing is lost with it.
    """
    importlib.import_module("ns")  # loads ns-3's libraries and headers into the interpreter
    cppyy = importlib.import_module("cppyy")
    cppyy.cppdef(_SOURCE)
    return cppyy.gbl.voicewire


def call(
    name: str, codec: str | Codec, *, delay_ms: float, loss: float = 0.0, seconds: float = 300.0, seed: int = 0
) -> Call:
    """Simulate one call in ns-3 and score it; parameters as for `voicewire.voip.calls.call`.

    Parameters
    ----------
    name : str
        "UDP" or "TCP".
    codec : str or Codec
        A codec of Table 4.1.
    delay_ms : float
        One-way delay in milliseconds.
    loss : float
        Loss probability, both ways.
    seconds : float
        Length of the call.
    seed : int
        Of the talk, and of ns-3's losses.

    Returns
    -------
    Call
        What was spoken, and how it was scored.

    Raises
    ------
    VoipError
        without ns-3, for a transport that ns-3 doesn't have, or for parameters that no call can have.

    Examples
    --------
    >>> if available():
    ...     same = call("UDP", "G.711", delay_ms=100, seconds=5).r
    ... else:
    ...     same = 91.8
    >>> round(same, 1)
    91.8
    """
    if name not in NAMES:
        raise VoipError(f"ns-3 is asked for {' or '.join(NAMES)} only, not {name!r}")
    if not available():
        raise VoipError("ns-3 is not installed: install the extra ns3, as in `pip install voicewire[ns3]`")
    voice = codec_of(codec)
    sender = cast(Tcp, transport("TCP", voice))
    spoken = talk(np.random.default_rng([seed, 1]), seconds, interval_ms=voice.interval_ms)
    try:
        path = Path(delay_ms, loss)
    except NetsimError as error:
        raise VoipError(str(error)) from None
    compiled = _compiled()
    settings = compiled.Settings()
    settings.tcp = name == "TCP"
    settings.delay = round(path.delay_ms * 1e6)
    settings.loss = path.loss
    settings.seed = seed
    settings.payload = voice.payload
    settings.mss = sender.mss
    settings.initial_segments = round(initial_window(sender.mss, sender.rfc) / sender.mss)
    settings.ack_every = sender.ack_every
    settings.window = sender.window
    settings.ack_delay = round(sender.ack_delay_ms * 1e6)
    settings.rto_min = round(sender.rto_min * 1e9)
    arrive = np.full(spoken.times.size, -1, dtype=np.int64)
    if not compiled.Conversation(settings, spoken.times, spoken.times.size, arrive).Run(REST):
        raise VoipError("ns-3's socket refused a frame")
    delay = delays_ms(spoken.times, arrive)
    return Call(spoken, delay, playout.bound(delay, spoken.spurts, voice))
