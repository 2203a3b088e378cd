"""One sentence goes the whole way, from a vocal tract to a kettle: the one room that may call several studies.

`sentence` speaks it, `stations` lets it pass what each study is about, and `budget` adds up what that costs. No paper,
no ledger: whatever is computed here is computed by the studies' own public functions.
"""
