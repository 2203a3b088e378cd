"""The session's event loop, in whole slots and compiled (notebook 1 explains it packet by packet).

The sender follows lwIP: slow start and congestion avoidance per ACK, fast retransmit at the third duplicate, on a
timeout everything unacknowledged goes back to the queue and the window restarts. The receiver keeps what arrives out
of order and acknowledges each packet. The link serves one packet at a time, and lets the directions take turns
whenever both have something to send.
"""

import numpy as np

from voicewire._compiled import njit
from voicewire.nfc.channel import cross

FAR_AWAY = 1 << 60
UP, DOWN = 0, 1  # to the appliance, and back


@njit(cache=True)
def _control(
    now: int, there: int, back: int, wait_there: int, wait_here: int, ip_bits: int, rto: int, backoff: bool,
    limit: int, kind: int, to_bad: float, to_good: float, bad: bool, rng: np.random.Generator,
    packets: list[tuple[int, int, int, int, int]], log: bool,
) -> tuple[int, int, int, bool, bool]:  # fmt: skip
    """Exchange a control packet for its answer (SYN or FIN), again until it works or `limit` is passed.

    Returns (time at which the answer has been digested, air slots, timeouts, gave up, channel state).
    """
    air, tries = 0, 0
    wait = rto
    while True:
        lost, bad = cross(ip_bits, bad, kind, to_bad, to_good, rng)
        if log:
            packets.append((now, there, UP, -1, int(lost)))
        air += there
        if not lost:
            reply = now + there + wait_there
            answer_lost, bad = cross(ip_bits, bad, kind, to_bad, to_good, rng)
            if log:
                packets.append((reply, back, DOWN, -1, int(answer_lost)))
            air += back
            if not answer_lost:
                return reply + back + wait_here, air, tries, False, bad
        now += there + wait
        if tries == limit:
            return now, air, tries, True, bad
        tries += 1
        if backoff:
            wait *= 2


@njit(cache=True)
def session(
    slots: np.ndarray, sizes: np.ndarray, ack_slots: int, syn_slots: int, near: int, far: int, mss: int,
    window: int, window_limit: int, restart: int, rto: int, backoff: bool, limit: int, threshold: int,
    single_buffer: bool, kind: int, to_bad: float, to_good: float, every: int, bad: bool,
    rng: np.random.Generator, log: bool,
) -> tuple[int, int, int, int, int, int, int, int, int, int, int, bool, int, np.ndarray]:  # fmt: skip
    """Run a session, all times in slots; `session.Session` explains the parameters and `session.Result` the rest."""
    n = len(slots)
    packets = [(0, 0, 0, 0, 0)]
    now, air, timeouts, gave_up, bad = _control(
        0, syn_slots, syn_slots, near, far, 8 * 44, rto, backoff, limit, kind, to_bad, to_good, bad, rng, packets, log
    )
    delivered = data_sent = data_lost = data_arrived = duplicates = 0
    acks_sent = acks_lost = acks_arrived = fast = 0
    if not gave_up:  # the ACK of the handshake; should it be lost, the first data packet says the same
        lost, bad = cross(8 * 40, bad, kind, to_bad, to_good, rng)
        if log:
            packets.append((now, ack_slots, UP, -1, int(lost)))
        now += ack_slots
        air += ack_slots

    # sender
    una = nxt = highest = 0  # first unacknowledged, next to hand to the link, one past the highest ever handed over
    cwnd = float(min(window, window_limit))
    ssthresh = float(window_limit)
    flight = 0  # bytes
    dup = 0
    recover = -1  # fast recovery until this segment is acknowledged
    tries = 0
    timer = FAR_AWAY
    data_done = False
    queue = np.zeros(n + 1, np.int64)  # ring of segments that wait for the link
    head = count = 0
    # receiver
    have = np.zeros(n, np.bool_)
    expected = 0
    ring = 4 * n + 16  # acknowledgements under way, as rings of (when, which)
    wait_at, wait_no = np.zeros(ring, np.int64), np.zeros(ring, np.int64)  # for the appliance's turn
    wait_head = wait_count = 0
    seen_at, seen_no = np.zeros(ring, np.int64), np.zeros(ring, np.int64)  # for the sender's attention
    seen_head = seen_count = 0
    near_busy = 0  # the appliance's transmitter is busy until
    last_direction = UP
    # what is on the link
    busy_until = -1
    on_air, on_air_no, on_air_lost = -1, 0, False

    while not gave_up and not data_done:
        # 1. a packet has just crossed
        if on_air == UP and busy_until == now:
            on_air = -1
            if on_air_lost:
                data_lost += 1
            else:
                data_arrived += 1
                if have[on_air_no]:
                    duplicates += 1
                have[on_air_no] = True
                while expected < n and have[expected]:
                    delivered += sizes[expected]
                    expected += 1
                # With a single buffer an answer that waits goes out first (it takes the next turn), then this is read.
                begin = now
                if single_buffer and wait_count > 0 and wait_at[wait_head] <= now:
                    begin = now + ack_slots
                begin = max(begin, near_busy)
                if wait_count == ring:
                    raise RuntimeError("the appliance's queue overflowed")
                slot = (wait_head + wait_count) % ring
                wait_at[slot], wait_no[slot] = begin + near, expected
                wait_count += 1
            timer = now + (rto << min(tries, 40) if backoff else rto)
        elif on_air == DOWN and busy_until == now:
            on_air = -1
            if on_air_lost:
                acks_lost += 1
            else:
                acks_arrived += 1
                slot = (seen_head + seen_count) % ring
                seen_at[slot], seen_no[slot] = now + far, on_air_no
                seen_count += 1
        # 2. the sender has digested an acknowledgement
        while seen_count > 0 and seen_at[seen_head] <= now:
            number = seen_no[seen_head]
            seen_head = (seen_head + 1) % ring
            seen_count -= 1
            if number > una:
                for i in range(una, number):
                    if i < nxt:
                        flight -= sizes[i]
                una = number
                nxt = max(nxt, una)
                dup = tries = 0
                if recover >= 0:
                    recover = -1
                    cwnd = ssthresh
                elif cwnd < ssthresh:
                    cwnd += mss
                else:
                    cwnd += mss * mss / cwnd
                cwnd = min(cwnd, float(window_limit))
                timer = now + rto if una < nxt else FAR_AWAY
                # a retransmission that waits for the link and is not needed any more leaves the queue
                while count > 0 and queue[head] < una:
                    head = (head + 1) % (n + 1)
                    count -= 1
                if una == n:
                    data_done = True
            elif number == una and una < nxt:
                dup += 1
                if dup == threshold and recover < 0:
                    fast += 1
                    recover = nxt
                    ssthresh = max(min(cwnd, float(flight)) / 2, 2.0 * mss)
                    cwnd = ssthresh + threshold * mss
                    if count <= n:
                        head = (head - 1) % (n + 1)
                        queue[head] = una
                        count += 1
                elif dup > threshold and recover >= 0:
                    cwnd += mss
                cwnd = min(cwnd, float(window_limit))
        if data_done:
            break
        # 3. the timer: it counts while nothing waits for the link or is on it
        if timer <= now and una < nxt and count == 0 and on_air != UP:
            if tries == limit:
                gave_up = True
                break
            tries += 1
            timeouts += 1
            ssthresh = max(min(cwnd, float(flight)) / 2, 2.0 * mss)
            cwnd = float(min(restart, window_limit))
            nxt, flight, dup, recover = una, 0, 0, -1
            timer = FAR_AWAY
        # 4. hand over what the window allows; one segment always may
        while nxt < n and (flight == 0 or flight + sizes[nxt] <= cwnd) and count <= n:
            if nxt < expected and nxt < una:
                break
            queue[(head + count) % (n + 1)] = nxt
            count += 1
            flight += sizes[nxt]
            nxt += 1
            highest = max(highest, nxt)
        # 5. the link takes the next packet: turns alternate when both want it
        if on_air < 0:
            up = count > 0
            down = wait_count > 0 and wait_at[wait_head] <= now
            if up and (not down or last_direction == DOWN):
                number = queue[head]
                head = (head + 1) % (n + 1)
                count -= 1
                data_sent += 1
                if kind == 3:
                    on_air_lost = data_sent % every == 0
                else:
                    on_air_lost, bad = cross(8 * (sizes[number] + 40), bad, kind, to_bad, to_good, rng)
                on_air, on_air_no, length = UP, number, slots[number]
            elif down:
                number = wait_no[wait_head]
                wait_head = (wait_head + 1) % ring
                wait_count -= 1
                acks_sent += 1
                on_air_lost, bad = cross(8 * 40, bad, kind, to_bad, to_good, rng)
                on_air, on_air_no, length = DOWN, number, ack_slots
                near_busy = now + length
            if on_air >= 0:
                busy_until = now + length
                air += length
                last_direction = on_air
                if on_air == UP:
                    timer = FAR_AWAY
                if log:
                    packets.append((now, length, on_air, on_air_no, int(on_air_lost)))
        # 6. on to the next event
        later = FAR_AWAY
        if on_air >= 0:
            later = busy_until
        elif wait_count > 0:
            later = wait_at[wait_head]
        if seen_count > 0:
            later = min(later, seen_at[seen_head])
        if on_air != UP and count == 0:
            later = min(later, max(timer, now + 1))
        if later >= FAR_AWAY:
            raise RuntimeError("nothing left to happen in a session that has not ended")
        now = later

    # a needless repeat may still be crossing: FIN waits for the link, and the repeat is counted
    if on_air >= 0:
        now = max(now, busy_until)
        if on_air == UP and on_air_lost:
            data_lost += 1
        elif on_air == UP:
            data_arrived += 1
            duplicates += 1
        elif on_air_lost:
            acks_lost += 1
        else:
            acks_arrived += 1
    if not gave_up:
        now, used, again, gave_up, bad = _control(
            now, ack_slots, ack_slots, near, far, 8 * 40, rto, backoff, limit, kind, to_bad, to_good, bad, rng,
            packets, log,
        )  # fmt: skip
        air += used
        timeouts += again
        if not gave_up:
            lost, bad = cross(8 * 40, bad, kind, to_bad, to_good, rng)
            if log:
                packets.append((now, ack_slots, UP, -1, int(lost)))
            now += ack_slots
            air += ack_slots
    table = np.zeros((len(packets) - 1, 5), np.int64)
    for i in range(1, len(packets)):
        for j in range(5):
            table[i - 1, j] = packets[i][j]
    return (
        now, delivered, data_sent, data_lost, data_arrived, duplicates, acks_sent, acks_lost, acks_arrived,
        timeouts, fast, gave_up, air, table,
    )  # fmt: skip
