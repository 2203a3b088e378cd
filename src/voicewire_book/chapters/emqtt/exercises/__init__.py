"""The exercises of this part, a module a chapter: what is right, usual mistakes, and what is said to each."""
