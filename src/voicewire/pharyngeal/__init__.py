"""Arabic pharyngealized consonants: the forensics of two tables, formants with known truth, and a vocal tract."""

from voicewire._kit.lazy import lazily

__all__ = [
    "MALE", "PRAAT_DEFAULT", "TALKERS", "TRACKERS", "Articulation", "ArticulatoryModel", "Constriction",
    "ContourTracker", "Corpus", "Frame", "Interval", "KeyTracker", "Levels", "MissingToken", "Outline",
    "PermutationTest", "Posture", "Reading", "Resonances", "Search", "Settings", "Sight", "Solution", "Sound",
    "SoundError", "Speaker", "SpeakerGrid", "Talker", "TextGrid", "TextGridError", "Token", "Track",
    "Transition", "adapted_grid", "agreement", "area_function", "bootstrap_by_speaker", "by_context", "cascade",
    "constriction", "contours", "corpus", "difference_readings", "distances", "elevation", "ellipse",
    "fetch_corpus", "film", "fit_articulatory_model", "fit_transition", "formant_table", "glottal_source", "guided",
    "hedges", "invert", "labels", "leave_one_out", "levels", "leverage", "limits", "lobanov", "look", "look_through",
    "marks", "mean_readings", "measure_formants", "midpoint", "missing_token", "mixed_model", "moved", "nearey",
    "normal", "outline", "pearson", "percent_readings", "permutation_test", "plausible_formants", "praat_tract",
    "random_open", "read_sound", "read_textgrid", "render", "resonances", "response", "sd_readings",
    "solution_family", "speak", "speakers", "synthetic_corpus", "to_rest_frame", "tokens_for_sd", "track",
    "tract_formants", "two_tube", "uniform", "unshift", "vowel", "wide", "write_textgrid",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
