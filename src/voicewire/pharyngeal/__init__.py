"""Arabic pharyngealized consonants: the forensics of two tables, formants with known truth, and a vocal tract."""
