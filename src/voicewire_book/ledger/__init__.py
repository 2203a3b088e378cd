"""The ledger's inside: how a claim is read, judged, shown in a notebook, and collected for the scorecard.

`vocabulary` has its words, `loading` reads and validates ``claims.yml``, `rules` decides one claim of each kind,
`sampling` counts its runs, `judging` names the verdict, `presentation` draws what a notebook shows, `collecting` reads
the verdicts back. Notebooks use all of it as `voicewire_book.kit.claims`.
"""
