from voicewire.pharyngeal.audio_files import Sound, SoundError
from voicewire.pharyngeal.audio_files import read as read_sound
from voicewire.pharyngeal.corpora import Corpus, corpus
from voicewire.pharyngeal.corpora import fetch as fetch_corpus
from voicewire.pharyngeal.films.contour_measures import Constriction, constriction, distances, elevation, to_rest_frame
from voicewire.pharyngeal.films.film_audio_sync import by_context, labels, marks
from voicewire.pharyngeal.films.frame_brightness import Levels, Sight, levels, look, look_through, normal
from voicewire.pharyngeal.films.keyframes import KeyTracker
from voicewire.pharyngeal.films.organs import Posture, contours
from voicewire.pharyngeal.films.xray_film import Frame, film, render
from voicewire.pharyngeal.films.xray_film import Tracker as ContourTracker
from voicewire.pharyngeal.formant_plausibility import TALKERS, Talker, limits
from voicewire.pharyngeal.formant_plausibility import answers as plausible_formants
from voicewire.pharyngeal.formant_tables import formants as formant_table
from voicewire.pharyngeal.formant_transitions import Transition
from voicewire.pharyngeal.formant_transitions import fit as fit_transition
from voicewire.pharyngeal.formants import MALE, PRAAT_DEFAULT, TRACKERS, Settings, Track, midpoint, track
from voicewire.pharyngeal.formants import measure as measure_formants
from voicewire.pharyngeal.inversion import Solution, invert
from voicewire.pharyngeal.inversion import family as solution_family
from voicewire.pharyngeal.statistics.correlation import (
    PermutationTest,
    leave_one_out,
    leverage,
    pearson,
    permutation_test,
)
from voicewire.pharyngeal.statistics.principal_components import ArticulatoryModel, guided
from voicewire.pharyngeal.statistics.principal_components import fit as fit_articulatory_model
from voicewire.pharyngeal.statistics.table_forensics import (
    MissingToken,
    Reading,
    Search,
    agreement,
    difference_readings,
    mean_readings,
    missing_token,
    percent_readings,
    sd_readings,
    tokens_for_sd,
    unshift,
)
from voicewire.pharyngeal.statistics.vowel_statistics import (
    bootstrap_by_speaker,
    ellipse,
    hedges,
    lobanov,
    mixed_model,
    nearey,
    wide,
)
from voicewire.pharyngeal.synthesis import Speaker, Token, cascade, glottal_source, speakers, vowel
from voicewire.pharyngeal.synthesis import corpus as synthetic_corpus
from voicewire.pharyngeal.textgrid import Grid as TextGrid
from voicewire.pharyngeal.textgrid import Interval, TextGridError
from voicewire.pharyngeal.textgrid import read as read_textgrid
from voicewire.pharyngeal.textgrid import write as write_textgrid
from voicewire.pharyngeal.tract import Articulation, Outline, area_function, moved, outline, random_open, speak
from voicewire.pharyngeal.tract import formants as tract_formants
from voicewire.pharyngeal.tract_grid import Grid as SpeakerGrid
from voicewire.pharyngeal.tract_grid import adapted as adapted_grid
from voicewire.pharyngeal.tube import Resonances, praat_tract, resonances, response, two_tube, uniform

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
