"""What the published book says to programs: the claims as data, linked data, a crate, and files for archives.

`papers` reads what each study is about, `listing` makes ``claims.json``, `linked` the scorecard's JSON-LD, `crate` the
RO-Crate, `archives` the files in the repository's root that Zenodo and CODECHECK read. A verdict is a word everywhere;
nothing here turns it into a number.
"""
