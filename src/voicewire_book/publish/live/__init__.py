"""Python in the published page: the wheel set, the site's ``live`` folder, and what runs cells there.

`wheels` lists files and checksums, `fetch` gets them, `chapters` says of each cell whether it runs in a browser,
`build` lays out ``live/`` beside the pages, and `page` runs cells where the page is. CONTRIBUTING.md tells how a cell
is declared that cannot run, and how the whole is proved.
"""
