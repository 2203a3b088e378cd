"""How the book is published: what executes the notebooks, builds the pages, and weaves code into chapters."""
