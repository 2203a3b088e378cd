"""A course from the book: handouts without solutions, and the marking of what comes back.

`handout` writes what students get; `key` reads an assignment; `submission` reads what a student handed in; `grading`
marks it, each submission in a process (`marker`) that asks the student's own process (`worker`, confined by
`sandbox`) for values, which cross between the two as plain data (`plain`, `session`).
"""
