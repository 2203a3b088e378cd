"""DCCP as far as a student needs it: packets as bytes, the state machines as data, the packet ring.

`header` encodes and decodes (RFC 4340 section 5), `states` walks a client and a server through a connection
(section 8), `features` negotiates (section 6), `sequence` checks numbers (section 7.5), `cookie` keeps no state of a
Request (section 8.1.4), `nonce` finds a receiver that lies (section 12.2), `dropped` tells what became of the data
(section 11.7), `ring` is the shared ring with late choice of the thesis' section 2.3.2, `importance` its section 3.5.
"""
