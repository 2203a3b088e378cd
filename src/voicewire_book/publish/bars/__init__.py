"""What a reader sees of the built pages, measured in a browser and held to limits.

``python -m voicewire_book.publish.bars SITE`` prints each bar with its limit and the worst that was measured.
"""
