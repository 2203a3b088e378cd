"""What the notebooks on the slotted NFC link call."""
