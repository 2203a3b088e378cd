"""``python -m voicewire`` is the command ``voicewire``."""

import sys

from voicewire.cli import main

if __name__ == "__main__":
    sys.exit(main())
