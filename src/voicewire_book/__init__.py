"""What the book adds to the package: chapters, ledger, pages and course. Only a clone of the book has it."""
