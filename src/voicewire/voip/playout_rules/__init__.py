"""Rules that choose the playout delay: Ramjee's, percentiles, Chernoff's. The bound is in `voip.playout`."""
