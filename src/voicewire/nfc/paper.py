"""What chapter 7 prints, written once: parameters, tables and numbers in the prose, each with its place.

Explained in `notebooks/nfc/03_reproduction.ipynb`. Nothing here is computed by us.
"""

from types import MappingProxyType
from typing import Final

__all__ = [
    "BURST_LENGTH",
    "CHUNK_BYTES",
    "CHUNK_PAYLOAD",
    "CONTROL_EFFICIENCY",
    "EFFICIENCY",
    "ETHERNET_DELAYS",
    "EXCHANGE_BYTES",
    "EXCHANGE_PACKETS",
    "FIGURE_72_BYTES",
    "GOODPUT_PRINTED",
    "INITIAL_CWND",
    "INITIAL_CWND_SIZES",
    "LOSSY_BYTES",
    "LOSSY_REDUCTION_PRINTED",
    "LOSS_ONE_IN",
    "MAXIMUM_CWND",
    "MSS",
    "RATES",
    "RATE_SLOTTED",
    "SECTION_SLOTS",
    "SEND_BUFFER",
    "SHORT_SESSION_BYTES",
    "SLOT_ACTIVE",
    "SLOT_PERIOD",
    "SLOT_RANGE_MS",
    "STALL_AT_1S_PRINTED",
    "STALL_PRINTED",
    "TABLE_72",
    "TABLE_72_BYTES",
    "TABLE_73",
]

# Table 7.1 and the sentence on Fig. 7.4 (section 7.1)
MSS: Final = 1024  # bytes
INITIAL_CWND: Final = 4096  # bytes
MAXIMUM_CWND: Final = 8192  # bytes
SEND_BUFFER: Final = 8192  # bytes
RATE_SLOTTED: Final = 11_200  # bit/s
CHUNK_BYTES: Final = 14  # on air in one slot
CHUNK_PAYLOAD: Final = 10  # of which usable
GOODPUT_PRINTED: Final = 8_000  # bit/s

# Section 7.4 and Eq. 7.4: a slot of 1.5 ms in each period of 10 ms
SLOT_PERIOD: Final = 0.010  # s
SLOT_ACTIVE: Final = 0.0015  # s

# Figures 7.2 and 7.3 (section 7.1)
FIGURE_72_BYTES: Final = 50_000
INITIAL_CWND_SIZES: Final = (2048, 4096, 8192)  # bytes
STALL_PRINTED: Final = 0.07607  # s, between the smallest and the largest initial window
ETHERNET_DELAYS: Final = (0.0, 0.25, 0.5, 1.0)  # s; the first is printed as "<1 ms"
STALL_AT_1S_PRINTED: Final = 1.08  # s

# Figure 7.5 (section 7.1): the lossy channel
LOSSY_BYTES: Final = 100_000
LOSS_ONE_IN: Final = 25
LOSSY_REDUCTION_PRINTED: Final = 7.5  # per cent, "up to"

# Table 7.2 (section 7.2): MSS in bytes -> session latency in s
TABLE_72_BYTES: Final = 5_000
TABLE_72: Final = MappingProxyType({1460: 6.24, 1024: 6.29, 512: 6.78, 256: 7.88})

# Section 7.3 and Table 7.3: (kind of error, BER) -> session latency in s
EXCHANGE_PACKETS: Final = 100  # from each end
EXCHANGE_BYTES: Final = 500  # payload of each
BURST_LENGTH: Final = 4.0  # bits, "average burst length"
TABLE_73: Final = MappingProxyType(
    {
        ("random", 1e-4): 439.22,
        ("random", 1e-5): 150.07,
        ("random", 1e-6): 127.32,
        ("burst", 1e-4): 199.6,
        ("burst", 1e-5): 134.46,
        ("burst", 1e-6): 125.03,
    }
)

# Section 7.4: bit rates in kbit/s; efficiencies in per cent at (rate in kbit/s, active slot time in ms)
RATES: Final = (212, 424, 848)
SLOT_RANGE_MS: Final = (1.0, 2.5)
SHORT_SESSION_BYTES: Final = 1_000
EFFICIENCY: Final = MappingProxyType({(212, 1.5): 50.0, (424, 1.5): 75.0, (848, 1.5): 95.0, (848, 1.9): 99.0})

# Section 7.5: section size b, and the efficiency at 5 control slots in 10
SECTION_SLOTS: Final = 10
CONTROL_EFFICIENCY: Final = 72.0  # per cent
