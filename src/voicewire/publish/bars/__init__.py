"""What a reader sees of the built pages, measured in a browser and held to limits.

``python -m voicewire.publish.bars SITE`` prints each bar with its limit and the worst that was measured.
"""
