"""The ledger as notebooks use it: load a study's claims, judge them, show the table.

A study's claims are written once, in ``data/<study>/claims.yml``. Its notebooks compute, call `Ledger.judge`, and
end a cell with `Ledger.table()`; that table carries the verdicts as data in the cell's own output, from which
`scorecard` reads them. A verdict is computed, never typed in; nothing is kept twice. The scorecard page of the book
shows the result. The inside is `voicewire_book.ledger`.
"""

from voicewire_book.ledger.collecting import problems, scorecard
from voicewire_book.ledger.judging import Ledger, Verdict, load
from voicewire_book.ledger.loading import Claim, studies
from voicewire_book.ledger.presentation import Table
from voicewire_book.ledger.rivals import exchanged
from voicewire_book.ledger.vocabulary import (
    CONTRADICTED,
    CORRECTED,
    HANGS,
    MIME,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    PARTLY,
    REPRODUCED,
    UNDECIDED,
    VERDICTS,
    ClaimError,
)

__all__ = [
    "CONTRADICTED",
    "CORRECTED",
    "HANGS",
    "MIME",
    "NOT_REPRODUCED",
    "NOT_TESTABLE",
    "PARTLY",
    "REPRODUCED",
    "UNDECIDED",
    "VERDICTS",
    "Claim",
    "ClaimError",
    "Ledger",
    "Table",
    "Verdict",
    "exchanged",
    "load",
    "problems",
    "scorecard",
    "studies",
]
