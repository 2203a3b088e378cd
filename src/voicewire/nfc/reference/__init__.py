"""The slotted link to read: `exchange` is packet after packet through errors, `session` a whole TCP transfer.

Notebook 2 is woven from them; tests/nfc/test_reference.py holds them against the compiled engine.
"""
