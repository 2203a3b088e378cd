"""The packet ring of Lai and Kohler (thesis, section 2.3.2): late choice of what to send.

Four indices in a fixed order: dev_i ≤ kern_i ≤ umod_i ≤ user_i. Slots below dev_i are sent; [dev_i, kern_i) belong
to the device; [kern_i, umod_i) the kernel may send next; [umod_i, user_i) the application may still change.
"""

from __future__ import annotations

from collections.abc import Callable

from voicewire.voip.errors import VoipError

__all__ = ["PacketRing"]


class PacketRing:
    """A ring of `size` packet slots shared by application and kernel.

    Parameters
    ----------
    size : int
        Slots, at least one.

    Examples
    --------
    >>> ring = PacketRing(2)
    >>> ring.put(b"a"), ring.put(b"b"), ring.free
    (0, 1, 0)
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise VoipError("a packet ring needs at least one slot")
        self._slots: list[bytes | None] = [None] * size
        self.dev_i = self.kern_i = self.umod_i = self.user_i = 0

    @property
    def free(self) -> int:
        """Slots into which the application may still put packets."""
        return len(self._slots) - (self.user_i - self.dev_i)

    def _check(self) -> None:
        assert self.dev_i <= self.kern_i <= self.umod_i <= self.user_i <= self.dev_i + len(self._slots)

    def put(self, packet: bytes) -> int:
        """Application: append a packet; its index is returned.

        Parameters
        ----------
        packet : bytes
            The packet.

        Returns
        -------
        int
            Its index.

        Raises
        ------
        VoipError
            if the ring is full.
        """
        if not self.free:
            raise VoipError("the packet ring is full: wait for the device, or modify a packet that still waits")
        self._slots[self.user_i % len(self._slots)] = packet
        self.user_i += 1
        self._check()
        return self.user_i - 1

    def modify(self, index: int, packet: bytes | None) -> None:
        """Application: replace a packet that isn't released yet, or withdraw it (None): the late choice.

        Parameters
        ----------
        index : int
            Its index.
        packet : bytes or None
            What stands there now; None: nothing.

        Raises
        ------
        VoipError
            if the packet is no longer the application's to change.
        """
        if not self.umod_i <= index < self.user_i:
            raise VoipError(f"packet {index} can't be changed: the application owns {self.umod_i} to {self.user_i - 1}")
        self._slots[index % len(self._slots)] = packet

    def release(self, upto: int) -> None:
        """Application: hand the packets below `upto` to the kernel.

        Parameters
        ----------
        upto : int
            Index of the first packet that the application keeps.
        """
        if not self.umod_i <= upto <= self.user_i:
            raise VoipError("umod_i moves forward only, and not beyond user_i")
        self.umod_i = upto
        self._check()

    def kernel_take(self) -> bytes | None:
        """Kernel: move the next released packet to the device; None if there is none. Withdrawn ones are skipped.

        Returns
        -------
        bytes or None
            The packet.
        """
        while self.kern_i < self.umod_i:
            packet = self._slots[self.kern_i % len(self._slots)]
            self.kern_i += 1
            self._check()
            if packet is not None:
                return packet
        return None

    def device_done(self) -> None:
        """Device: everything that it was given is sent; the slots are free again."""
        for index in range(self.dev_i, self.kern_i):
            self._slots[index % len(self._slots)] = None
        self.dev_i = self.kern_i
        self._check()

    def waiting(self) -> list[tuple[int, bytes]]:
        """Packets that the application may still change, with their indices.

        Returns
        -------
        list of tuple
            (index, packet), the oldest first.
        """
        rows = ((i, self._slots[i % len(self._slots)]) for i in range(self.umod_i, self.user_i))
        return [(i, packet) for i, packet in rows if packet is not None]

    def choose(self, keep: Callable[[list[bytes]], list[int]]) -> int:
        """Application, under congestion: let `keep` say which of the waiting packets to send; withdraw the others.

        The number of packets withdrawn is returned.

        Parameters
        ----------
        keep : callable
            Gets the waiting packets, gives the indices among them of those to send.

        Returns
        -------
        int
            How many were withdrawn.
        """
        rows = self.waiting()
        chosen = set(keep([packet for _, packet in rows]))
        gone = [index for n, (index, _) in enumerate(rows) if n not in chosen]
        for index in gone:
            self.modify(index, None)
        return len(gone)
