"""DCCP as far as a student needs it: packets as bytes, the state machines as data, the packet ring.

`header` encodes and decodes (RFC 4340 section 5), `states` walks a client and a server through a connection
(section 8), `ring` is the shared ring with late choice of the thesis' section 2.3.2, `importance` its section 3.5.
"""
