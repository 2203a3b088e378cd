"""Voice over UDP, TCP and the TFRC family: the part `voip` of the book (a thesis of 2006 on DCCP).

`paper` holds the printed parameters, `emodel` and `playout` the quality, `talk` the conversations, `transports`
the variants, `calls` and `experiments` the runs, `dccp` the protocol itself, `listening` what can be heard, `opus`,
`g729`, `measures` and `redundancy` codecs over the same losses, `ns3` a second simulator to be held against.
"""
