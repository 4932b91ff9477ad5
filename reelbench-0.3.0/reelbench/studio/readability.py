"""Measure how hard texts are to read: words, Flesch-Kincaid grade, depth of the parse tree.

These are MovieCORE's cognitive tests (section 4.1, Table 1). Grade and depth are taken per text and
then averaged over a dataset. The depth needs spaCy and one of its models, which are optional.

Rules count syllables from spelling, without a dictionary. The pronouncing dictionaries on PyPI are
GPL or fetched from the network when first used, and hyphenation patterns leave out the breaks where
no hyphen may stand. The CMU dictionary is the measure, over 45,000 running words of English prose.
These rules are wrong for 1 word in 100 (0.005 syllables a word too few on the whole). pyphen 0.18
is wrong for 9 in 100 (0.11 too few, more than a school grade of Flesch-Kincaid).
"""

import importlib.util
import os
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError, installing
from reelbench.base.languages import WORD, words
from reelbench.studio.data_files import studio_data

if TYPE_CHECKING:
    from spacy.language import Language
from functools import lru_cache

DEFAULT_MODEL = settings.SPACY_MODEL.default
SYLLABLES = "reelbench's sentences, and syllables by rules of spelling"
"""How the grade is counted: stated wherever it is compared with published figures."""
# A full stop after these, or after a single letter, ends no sentence.
_SHORT = re.compile(r"\b(?:mr|mrs|ms|dr|st|jr|sr|prof|vs|etc|e\.g|i\.e|no|[a-z])\.$", re.IGNORECASE)
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$)")
_LONGEST_SHORT = 8  # characters of a text's end among which an abbreviation is looked for


class ParserUnavailableError(ReelbenchError):
    """spaCy or its model is not installed. The message has the command that installs it."""


def sentences(text: str) -> int:
    """Return the number of sentences in a text, at least 1.

    A sentence has a word in it and ends in `.`, `!` or `?`, or where the text ends.
    """
    count = 0
    start = 0
    last = len(text.rstrip())
    for match in _END.finditer(text):
        end = match.end()
        tail = text[max(start, end - _LONGEST_SHORT) : end]
        if match[0] == "." and end < last and _SHORT.search(tail):
            continue
        if WORD.search(text, start, end):
            count += 1
        start = end
    if WORD.search(text, start):
        count += 1
    return max(1, count)


def flesch_kincaid(text: str) -> float | None:
    """Return the Flesch-Kincaid grade of an English text, None where it has no word.

    0.39 · words per sentence + 11.8 · syllables per word - 15.59 (MovieCORE, equation 2).
    """
    text_words = words(text)
    if not text_words:
        return None
    count = len(text_words)
    syllable_count = sum(map(syllables, text_words))
    return 0.39 * count / sentences(text) + 11.8 * syllable_count / count - 15.59


def tree_depths(heads: Sequence[int]) -> list[int]:
    """Return the depth of each tree in a parse, in the order of their roots.

    `heads[i]` is the position of token i's head, a root's its own. A token without children has
    depth 0, another one more than the deepest of its children (MovieCORE, equation 1). A tree is as
    deep as its root. Punctuation counts, as it does in spaCy's trees.
    """
    depths: dict[int, int] = {}  # of each root, by the longest way up to it
    for token in range(len(heads)):
        root = token
        depth = 0
        while heads[root] != root:
            root = heads[root]
            depth += 1
        depths[root] = max(depths.get(root, 0), depth)
    return [depths[root] for root in sorted(depths)]


@dataclass(frozen=True, slots=True)
class Parser:
    """A spaCy model: its name and version, the language that it parses, and the pipeline."""

    name: str
    language: str
    pipeline: "Language"

    def depths(self, texts: Iterable[str]) -> Iterator[float | None]:
        """Yield each text's depth, the mean over its sentences' trees.

        None for a text without a word.
        """
        # In one process: handing parses from one to another costs more than a second one gains.
        for doc in self.pipeline.pipe(texts, batch_size=128):
            if WORD.search(doc.text):
                heads = [token.head.i for token in doc]
                yield statistics.fmean(tree_depths(heads))
            else:
                yield None


def load_parser(model: str | None = None) -> Parser:
    """Load a spaCy model with a dependency parser.

    Args:
        model: Its name, or the path of its folder, which has a slash. None for the one that
            `REELBENCH_SPACY_MODEL` names, or else `en_core_web_sm`.

    Raises:
        ParserUnavailableError: spaCy or the model is not installed.
        InputError: The model has no dependency parser.
    """
    model = model or settings.SPACY_MODEL.get()
    # Looked for before spaCy is imported, which takes seconds.
    if not _is_installed("spacy"):
        raise ParserUnavailableError(
            f"parse depth is left out: spaCy is not installed; to have it: "
            f"python -m spacy download {DEFAULT_MODEL}, and {installing('profile')}"
        )
    is_folder = os.sep in model and Path(model).is_dir()
    if not is_folder and not _is_installed(model):
        raise ParserUnavailableError(
            f"parse depth is left out: spaCy finds no model {model}; "
            f"to have it: python -m spacy download {model}"
        )
    import spacy

    try:
        # What the parse does not rest on costs most of the time.
        pipeline = spacy.load(
            model, exclude=["ner", "lemmatizer", "attribute_ruler", "tagger", "morphologizer"]
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"{model}: not a spaCy model that can be loaded ({' '.join(str(error).split())})"
        ) from None
    if "parser" not in pipeline.pipe_names:
        parts = ", ".join(pipeline.pipe_names) or "a tokenizer"
        raise InputError(f"{model}: has no dependency parser, only {parts}")
    meta = pipeline.meta
    name = f"{meta['lang']}_{meta['name']} {meta['version']}"
    return Parser(name, pipeline.lang or "", pipeline)


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _syllables_of_exceptions() -> dict[str, int]:
    """Return the syllables of words that break the rules."""
    exceptions: dict[str, int] = {}
    for count, word_list in studio_data("words.yaml")["syllables"].items():
        exceptions |= dict.fromkeys(word_list.split(), count)
    return exceptions


_EXCEPTIONS = _syllables_of_exceptions()

# A silent e: before these endings, and in -ely and -ement after most consonants.
_INNER_E = re.compile(
    r"(?<=[aeiouy][^aeiouyl])e(?=(?:ment|less|ful|ness|ly|some|where|thing|body|work|line|time|walk|style)[a-z]*$)"
    r"|(?<=[rnstvcgz])e(?=ly$|ments?$)"
)
_LE = re.compile(r"(?<=[^aeiouylr])le[sd]?$")
_SPOKEN_ED = re.compile(r"(?:[td]|[aeiou])ed$")
_SPOKEN_ES = re.compile(r"(?:[scxzg]|ch|sh|[aeiou])es$")
_VOWEL = re.compile("[aeiouy]")
_VOWELS = re.compile(r"[aeiouy]+")
# Vowels side by side in two syllables, and the syllable without a vowel in -ism and -ithm.
_APART = re.compile(
    r"(?<![ctgs])i[ao]|(?<=[^aeiou])iu(?!$)|(?<=[cst])iat|gian?t|uou|ua(?!r|ble)|ue[ln]|eo(?!p|u)|[aeouy]ing|kiing"
    r"|ie[tn](?:$|s|c|y)|creat|theat|eum|uit(?:y|ie)|ea(?:l(?:is|it|iz)|ct)|ium|ea$|iet|oe[ts]|oem"
)
_NO_VOWEL = re.compile(r"(?:ism|ithm|ythm)s?$")


@lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """Return the number of an English word's syllables, at least 1.

    A number counts as one syllable.
    """
    word = word.lower().replace("’", "'")
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    if "-" in word:
        return sum(syllables(part) for part in word.split("-") if part)
    spelled = re.sub(r"[^a-z]", "", word.removesuffix("'s"))
    if not spelled:
        return 1
    spelled = _INNER_E.sub("", spelled)
    spelled = re.sub(r"ically$", "icly", spelled)
    spelled = re.sub(r"(?<=[qg])ue(?=s?$)", "", spelled)
    count = 0
    silent_ed = spelled.endswith("ed") and not _SPOKEN_ED.search(spelled)
    silent_es = spelled.endswith("es") and not _SPOKEN_ES.search(spelled)
    if _LE.search(spelled):  # a syllable with a silent e
        spelled = _LE.sub("", spelled)
        count = 1
    elif silent_ed or silent_es:
        spelled = spelled[:-2]
    elif re.search(r"[^aeiouy]e$", spelled) and _VOWEL.search(spelled[:-2]):
        spelled = spelled[:-1]
    spelled = re.sub(r"(?:(?<=[aeiou])|^)y(?=[aeiou])", "j", spelled)  # a consonant there
    spelled = re.sub(r"gu(?=[aeio])", "g", spelled.replace("qu", "q"))
    for pattern in (_VOWELS, _NO_VOWEL, _APART):
        count += len(pattern.findall(spelled))
    return max(1, count)
