"""Answers made up in the 20 locales that CURVE's sources name: what must be the same, and what must not."""

import pytest

from reelbench.registry.records import Item
from reelbench.scoring.exact_match import columns, matches, normalize
from tests.alarms import one_pass

# Locale -> reference, the same answer written otherwise, another answer that differs in little.
ANSWERS = {
    "ar-EG": ("طبق الكشري؟", "«طبق الكشري»", "طبق الكشرى"),
    "bn-BD": ("পান্তা ইলিশ।", "'পান্তা  ইলিশ'", "পান্তা ইলেশ"),
    "de-DE": ("Große Straße", "GROSSE STRASSE!", "Große Strafe"),
    "en-GB": ("The Queen's guard", "the queen’s guard.", "the queen's guards"),
    "en-IN": ("Masala-dosa", "**masala dosa**", "masala dose"),
    "es-MX": ("¡Día de Muertos!", "día de muertos", "dia de muertos"),
    "fr-FR": ("L’été à Nîmes", "l'été à nîmes…", "l'été à nimes"),
    "hi-IN": ("कुल्लू का दशहरा।", "कुल्लू का दशहरा", "कुल्लु का दशहरा"),
    "id-ID": ("Nasi goreng, telur", "nasi goreng telur", "nasi gurih telur"),
    "it-IT": ("Perché è festa", "perche\u0301 e\u0300 festa!", "perche e festa"),
    "ja-JP": ("「さっぽろ雪まつり」", "さっぽろ 雪まつり。", "さっほろ雪まつり"),
    "kn-IN": ("ಮೈಸೂರು ದಸರಾ", "“ಮೈಸೂರು ದಸರಾ”", "ಮೈಸೂರಿ ದಸರಾ"),
    "ko-KR": ("강릉 단오제", "\u1100\u1161\u11bc\u1105\u1173\u11bc 단오제.", "강릉 단오재"),
    "mr-IN": ("पुरणपोळी", "पुरणपोळी।", "पुरणपोळि"),
    "pt-BR": ("Círio de Nazaré", "CÍRIO DE NAZARÉ", "cirio de nazare"),
    "ru-RU": ("Масленица — блины", "масленица: блины", "масленица блины есть"),
    "ta-IN": ("பொங்கல் விழா", "பொங்கல்  விழா!", "பொஙகல் விழா"),
    "te-IN": ("బతుకమ్మ పండుగ", "(బతుకమ్మ పండుగ)", "బతుకమ్మి పండుగ"),
    "th-TH": ("ส้มตำไทย", "ส้มตํา ไทย", "สมตำไทย"),
    "zh-TW": ("《龍山寺》", "龍山寺", "龍山祠"),
}


@pytest.mark.parametrize("locale", ANSWERS)
def test_the_same_answer_in_every_locale(locale):
    reference, same, other = ANSWERS[locale]

    assert matches(same, reference, locale)
    assert not matches(other, reference, locale)
    # Neither does it rest on knowing the language.
    assert matches(same, reference)
    assert not matches(other, reference)


@pytest.mark.parametrize(
    "digits",
    ["１２３", "١٢٣", "۱۲۳", "१२३", "১২৩", "௧௨௩", "౧౨౩", "೧೨೩", "๑๒๓"],
    ids=[
        "full width",
        "Arabic-Indic",
        "Persian",
        "Devanagari",
        "Bengali",
        "Tamil",
        "Telugu",
        "Kannada",
        "Thai",
    ],
)
@pytest.mark.parametrize("locale", [None, *ANSWERS])
def test_digits_of_every_script_are_digits(digits, locale):
    assert matches(digits, "123", locale)
    assert not matches(digits, "124", locale)


@pytest.mark.parametrize(
    ("locale", "words", "digits"),
    [
        ("ar-EG", "اثنا عشر", "١٢"),
        ("bn-BD", "একুশ", "২১"),
        ("de-DE", "Einundzwanzig", "21"),
        ("en-GB", "Twenty-one horses", "21 horses"),
        ("en-IN", "one lakh", "1,00,000"),
        ("es-MX", "veintiuno", "21"),
        ("fr-FR", "vingt et un", "21"),
        ("id-ID", "dua puluh satu", "21"),
        ("it-IT", "ventuno", "21"),
        ("ja-JP", "十二人", "１２人"),
        ("ko-KR", "십이 명", "12 명"),
        ("kn-IN", "ಹನ್ನೆರಡು", "೧೨"),
        ("pt-BR", "vinte e um", "21"),
        ("ru-RU", "двадцать один", "21"),
        ("te-IN", "పన్నెండు", "౧౨"),
        ("th-TH", "สิบสองคน", "๑๒ คน"),
    ],
)
def test_number_words_where_the_language_is_known(locale, words, digits):
    assert matches(words, digits, locale)
    assert matches(digits, words, locale)
    assert not matches(words, digits)


@pytest.mark.parametrize(
    ("locale", "words"),
    [("hi-IN", "बारह"), ("mr-IN", "बारा"), ("ta-IN", "பன்னிரண்டு"), ("zh-TW", "十二")],
)
def test_other_languages_keep_their_digits(locale, words):
    assert matches("12", "१२", locale)
    assert not matches("12", words, locale)


@pytest.mark.parametrize(
    ("one", "two", "locale", "same"),
    [
        ("1,234", "1234", "en-GB", True),
        ("1.234", "1234", "de-DE", True),
        ("1 234", "1.234", "fr-FR", True),
        ("1\u202f234", "1234", "fr-FR", True),
        ("1,00,000", "100000", "hi-IN", True),
        ("1.234", "1234", "en-GB", False),
        ("1234,567", "1234567", "en-GB", False),  # two numbers: a group has three digits at most
        ("1,234", "1234", "de-DE", False),
        ("3.14", "314", "en-GB", False),
        ("0.125", "0125", "de-DE", False),  # nobody groups the thousands of nothing
        ("0.125", "0,125", "de-DE", True),
        *(
            ("3,14", "3.14", locale, True)
            for locale in ("de-DE", "fr-FR", "id-ID", "it-IT", "pt-BR", "ru-RU")
        ),
        *(
            ("1.234", "1234", locale, True)
            for locale in ("de-DE", "fr-FR", "id-ID", "it-IT", "pt-BR", "ru-RU")
        ),
        ("1.234,5", "1,234.5", "de-DE", True),
        ("٣٫١٤", "3.14", "ar-EG", True),
        ("12.03.2021", "12/03/2021", "en-GB", True),
        ("12.03.2021", "12032021", "en-GB", False),
        ("10:30", "1030", "en-GB", False),
        ("1, 2", "12", "en-GB", False),
        ("-5 °C", "5 °C", "en-GB", False),
        ("-5", "−5", "en-GB", True),
        ("007", "7", "en-GB", False),
        ("0", "zero", "en-GB", True),
        # Above what num2words can say in Indian English, and above what is tried.
        ("100000000000", "100,000,000,000", "en-IN", True),
        ("123456789012345", "123456789012345", "en-GB", True),
        ("U.S.A.", "USA", "en-GB", True),
        ("e-mail", "e mail", "en-GB", True),
        ("$5", "€5", "en-GB", False),
        ("a\u200bb\u00ad\ufeff", "ab", "en-GB", True),
        ("\u200fأحمد\u200e", "أحمد", "ar-EG", True),
        ("ﷺ ﻣﺮﺣﺒﺎ", "صلى الله عليه وسلم مرحبا", "ar-EG", True),
        ("línea\nuno", "línea uno", "es-MX", True),
        ("two words", "twowords", "en-GB", False),
    ],
)
def test_signs(one, two, locale, same):
    assert matches(one, two, locale) == same
    assert matches(two, one, locale) == same


@pytest.mark.parametrize("nothing", ["", "  ", "?!", "…", "\u200b"])
def test_nothing_left_is_no_match(nothing):
    assert not matches(nothing, nothing, "en-GB")
    assert not matches(nothing, "answer", "en-GB")


def test_combining_marks_stay():
    assert normalize("कि") != normalize("क")
    assert normalize("ก่อน") != normalize("กอน")


def test_columns_take_the_language_from_the_facets():
    target = {"text": "12"}

    assert columns(
        Item(id="q", video="v", target=target, prediction="twelve", facets={"locale": ["en-GB"]})
    ) == {"exact_match": 1.0}
    assert columns(Item(id="q", video="v", target=target, prediction="twelve")) == {
        "exact_match": 0.0
    }
    assert columns(
        Item(id="q", video="v", target=target, prediction="twelve", facets={"locale": ["xx-XX"]})
    ) == {"exact_match": 0.0}
    assert columns(
        Item(id="q", video="v", target=target, prediction="", facets={"locale": ["en-GB"]})
    ) == {"exact_match": 0.0}
    assert (
        columns(
            Item(id="q", video="v", target=target, prediction=None, facets={"locale": ["en-GB"]})
        )
        == {}
    )


def test_number_words_are_of_the_locale():
    assert matches("twelve", "12", "en-GB")
    assert matches("12", "十二", "ja-JP")
    assert not matches("no", "yes")


@pytest.mark.parametrize(
    "text", ["1" * 1_000_000, "1" * 500_000 + "." + "1" * 500_000, "1,11" * 250_000]
)
def test_a_million_digits_are_read_in_one_pass(text):
    # Tried from every digit, as it was, this takes 10^12 steps: hours, where a pass takes 10^6.
    with one_pass(120):
        assert normalize(text, "en-GB")


def test_a_text_that_is_longer_than_any_answer_is_read_at_its_end():
    assert not matches("word " * 5_000 + "Paris", "Paris")
    assert not matches("a\u0300\u0316" * 30_000, "a")
