"""History discounting with the arrays of RFC 3448 section 5.5, packet by packet.

Held against the pseudo-code of the section with its erratum 1459 (DF_0 begins with 1, too) and against the simulator
of the RFC's authors (ns-2, tfrc-sink.cc: `est_loss`, factor 2, least ratio 0.5, multipliers that are shifted with the
intervals when a loss event begins, the general one set back to 1).
"""

W = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]


class Discounted:
    """`I[i]` the length of interval i, `DF[i]` its discount factor, `general` the factor DF of all before I[0]."""

    def __init__(self, first_interval, threshold):
        self.threshold = threshold
        self.I = [0.0, first_interval]
        self.DF = [1.0, 1.0]
        self.general = 1.0
        self.packet()  # the lost one begins its own interval

    def packet(self):
        """A packet more since the last loss event: I_0 grows, DF is updated, p is computed."""
        self.I[0] += 1.0
        n = len(self.I) - 1
        w_tot1 = sum(W[i - 1] * self.DF[i] for i in range(1, n + 1))
        i_tot1 = sum(self.I[i] * W[i - 1] * self.DF[i] for i in range(1, n + 1))
        i_mean = i_tot1 / w_tot1
        self.general = 1.0
        if self.I[0] > 2 * i_mean:
            self.general = max(2 * i_mean / self.I[0], self.threshold)
        i_tot0, w_tot0 = self.I[0] * W[0], W[0]
        for i in range(1, min(n, 7) + 1):
            i_tot0 += self.I[i] * W[i] * self.DF[i] * self.general
            w_tot0 += W[i] * self.DF[i] * self.general
        return min(w_tot0 / i_tot0, w_tot1 / i_tot1)

    def loss_event(self):
        """The intervals move on by one, and what was discounted stays so."""
        n = len(self.I) - 1
        for i in range(1, n + 1):
            self.DF[i] = self.general * self.DF[i]
        self.I = [0.0, *self.I][:9]
        self.DF = [1.0, *self.DF][:9]
        self.general = 1.0
        return self.packet()
