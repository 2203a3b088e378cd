"""TCP/IP through the slotted NFC channel of a cordless kitchen: chapter 7 of Kashyap et al. (2021).

`paper` holds what is printed, `session` and `engine` simulate a TCP session on the link, `closed` gives the same
numbers by formula, `channel` and `exchange` add bit errors and timers, `slots` covers the slot map and the control
share, `experiments` runs them and asks which readings of the chapter fit, `witness` runs a real lwIP in virtual time.
"""
