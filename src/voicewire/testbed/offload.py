"""Segmentation offloads: the reason why a capture on a fast machine shows segments that no wire ever carried."""

from __future__ import annotations

import array
import fcntl
import socket
import struct

from voicewire.testbed.errors import TestbedError

__all__ = ["FEATURES", "offloads", "switch_off"]

_SIOCETHTOOL = 0x8946
#: feature -> (ethtool "get" command, ethtool "set" command)
FEATURES = {
    "tso": (0x1E, 0x1F),
    "gso": (0x23, 0x24),
    "gro": (0x2B, 0x2C),
    "tx-checksum": (0x16, 0x17),
}


def _ethtool(device: str, command: int, value: int = 0) -> int:
    request = array.array("B", struct.pack("II", command, value))
    address, _ = request.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, _SIOCETHTOOL, struct.pack("16sP", device.encode(), address).ljust(40, b"\0"))
    return int(struct.unpack("II", request.tobytes())[1])


def offloads(device: str) -> dict[str, bool]:
    """Return which offloads a device of the calling thread's host has on.

    Parameters
    ----------
    device : str
        Its name.

    Returns
    -------
    dict of str to bool
        By the names of `FEATURES`; those that the driver does not know are left out.

    Examples
    --------
    >>> set(offloads("lo")) <= set(FEATURES)
    True
    """
    state = {}
    for name, (get, _) in FEATURES.items():
        try:
            state[name] = bool(_ethtool(device, get))
        except OSError:
            continue
    return state


def switch_off(device: str) -> None:
    """Switch every offload of `FEATURES` off, so that what is captured is what a wire would carry.

    Parameters
    ----------
    device : str
        Its name, on the calling thread's host.

    Raises
    ------
    TestbedError
        If one of them stays on: counters and capture would then disagree.

    Examples
    --------
    >>> from voicewire.testbed.hosts import Host, may_make_namespaces
    >>> if may_make_namespaces() is None:  # as root
    ...     with Host("a") as host, host.inside():
    ...         switch_off("lo")
    ...         assert not any(offloads("lo")[name] for name in ("tso", "gso", "gro"))
    """
    for _, change in FEATURES.values():
        try:
            _ethtool(device, change, 0)
        except OSError:
            continue  # the driver does not know it; what counts is what is on afterwards
    still = [name for name in ("tso", "gso", "gro") if offloads(device).get(name)]
    if still:
        raise TestbedError(f"{device}: {', '.join(still)} cannot be switched off; a capture would undercount")
