"""Syllables of an English word, from its spelling.

Rules, not a dictionary: the pronouncing dictionaries on PyPI are GPL or fetched from the network when first used, and
hyphenation patterns leave out the breaks where no hyphen may stand. Against the CMU dictionary, over 45,000 running
words of English prose, these rules are wrong for 1 word in 100 (0.005 syllables a word too few on the whole), pyphen
0.18 for 9 in 100 (0.11 too few, more than a school grade of Flesch-Kincaid).
"""

import re
from functools import lru_cache

_EXCEPTIONS = {
    word: count
    for count, words in {
        1: "are does else eye eyes goes here live owe sea shoes there were where whose",
        2: "acquire being business chocolate couldn't create didn't doesn't entire evening every genre hadn't hasn't "
        "haven't inspire isn't people rely shouldn't someone something sometimes somewhere therefore union unique via "
        "wasn't wouldn't",
        3: "area areas behavior behaviour entirely everybody everyone everything everywhere idea ideas inspired "
        "opinions",
    }.items()
    for word in words.split()
}

# An e that is not said: before these endings, and in -ely and -ement after most consonants.
_INNER_E = re.compile(
    r"(?<=[aeiouy][^aeiouyl])e(?=(?:ment|less|ful|ness|ly|some|where|thing|body|work|line|time|walk|style)[a-z]*$)"
    r"|(?<=[rnstvcgz])e(?=ly$|ments?$)"
)
_LE = re.compile(r"(?<=[^aeiouylr])le[sd]?$")
_SAID_ED = re.compile(r"(?:[td]|[aeiou])ed$")
_SAID_ES = re.compile(r"(?:[scxzg]|ch|sh|[aeiou])es$")
_VOWELS = re.compile(r"[aeiouy]+")
# Vowels side by side that are said apart, and the syllable without a vowel in -ism and -ithm.
_APART = re.compile(
    r"(?<![ctgs])i[ao]|(?<=[^aeiou])iu(?!$)|(?<=[cst])iat|gian?t|uou|ua(?!r|ble)|ue[ln]|eo(?!p|u)|[aeouy]ing|kiing"
    r"|ie[tn](?:$|s|c|y)|creat|theat|eum|uit(?:y|ie)|ea(?:l(?:is|it|iz)|ct)|ium|ea$|iet|oe[ts]|oem"
)
_NO_VOWEL = re.compile(r"(?:ism|ithm|ythm)s?$")


@lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """Return how many syllables an English word has, at least 1; a number counts as one word of one syllable."""
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
    spelled, count = _without_silent_ending(spelled)
    spelled = re.sub(r"(?:(?<=[aeiou])|^)y(?=[aeiou])", "j", spelled)  # a consonant there
    spelled = re.sub(r"gu(?=[aeio])", "g", spelled.replace("qu", "q"))
    for pattern in (_VOWELS, _NO_VOWEL, _APART):
        count += len(pattern.findall(spelled))
    return max(1, count)


def _without_silent_ending(word: str) -> tuple[str, int]:
    """Return the word without an ending whose e is not said, and the syllables that went with it."""
    if _LE.search(word):
        return _LE.sub("", word), 1
    if (word.endswith("ed") and not _SAID_ED.search(word)) or (word.endswith("es") and not _SAID_ES.search(word)):
        return word[:-2], 0
    if word.endswith("e") and re.search(r"[aeiouy].*[^aeiouy]e$", word):
        return word[:-1], 0
    return word, 0
