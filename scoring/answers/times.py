"""How times are written: clocks, units, and the words around spans, by language; the patterns made of them."""

# ruff: noqa: E501 - the words of a kind stand together

import re

from reelbench.scoring.answers.vocabulary import WORDS

SECONDS, MINUTES, HOURS, TO, AND, BETWEEN, FROM, START, END, START_NAME, END_NAME, SPAN = (
    "|".join(WORDS["times"][name])
    for name in (
        *("seconds", "minutes", "hours", "to", "and", "between", "from", "start", "end", "start_name", "end_name"),
        "span",
    )
)
"""How units, and the words between, before and behind a span's two ends are written. `AND` counts only with a word for
"between"; names of the two ends (`START_NAME`) say what they are of wherever the other stands; behind what names a span
(`SPAN`) a bare range of numbers is time."""
FIRST, BEGINNING, FRAMES, NOT_TIMES, NUMBERED, LASTING, HAPPENS, DENIES_NO_TIME = (
    "|".join(WORDS["times"][name])
    for name in ("first", "beginning", "frames", "not_times", "numbered", "lasting", "happens", "denies_no_time")
)
"""Behind `FIRST` a moment is the end of a span from 0. `NOT_TIMES` makes bare numbers no times, before or behind them;
what is `NUMBERED` only right before them, since it may as well be where something happens. `LASTING` is a stretch of
time, no place in the video. `HAPPENS` says of a time that something is there; `DENIES_NO_TIME` denies or hedges an
option, but never a time."""

# From here on, scripts are written without spaces.
_THAI = 0x0E00

# 12th, la 12e, 12-й, 12वें.
ORDINAL = r"(?:th|st|nd|rd|e|è|ème|ª|º|-?(?:й|я|ю|е|ая|ую|ой)|वें|वीं|\.(?= saniye))(?![^\W\d_])"
_DIGITS = r"(?<![\d./$€£#])(?<![\s\[(]-)(?<!\d:)(?<![\d,]\d,)(?<!\d,)"
_NUMBER = r"\d{1,7}+(?:\.\d{1,20}+)?(?![\d])"
_CLOCK = r"\d{1,3}+:\d{1,2}+(?::\d{1,2}+)?(?:\.\d{1,20}+|,\d{3}(?!\d|:))?(?![\d:])"


def words(phrases: str) -> str:
    """Return phrases as a pattern: the longest first, whole words in scripts that have spaces."""
    ordered = sorted(phrases.split("|"), key=len, reverse=True)
    latin = [phrase for phrase in ordered if ord(phrase[0]) < _THAI]
    unspaced = [phrase for phrase in ordered if ord(phrase[0]) >= _THAI and phrase[0] != "'"]
    quotes = [phrase for phrase in latin if phrase[0] == "'"]
    latin = [phrase for phrase in latin if phrase not in quotes]
    quotes = [phrase + "(?!')" for phrase in quotes]
    whole = rf"(?<![^\W\d_])(?:{'|'.join(latin)})(?![^\W\d_])"
    return "|".join(filter(None, [whole, "|".join(unspaced), "|".join(quotes)]))


def moment(number: str) -> str:
    """Return the pattern of a moment, its groups numbered: a clock, hours to seconds with units, or a number."""
    joint = r"[\s,]{0,2}(?:(?:and|y|et|und|e|и|和|dan|और|و|และ)\s)?"
    hours, minutes, seconds = (
        rf"(?P<{name}{number}>\d{{1,7}}+(?:\.\d{{1,20}}+)?)(?:{ORDINAL})?[ -]?(?P<{name}_unit{number}>{words(phrases)})"
        for name, phrases in (("h", HOURS), ("m", MINUTES), ("s", SECONDS))
    )
    # Behind a space only where no unit of another's can follow: 1 minute 30 to 2 minutes 10.
    stands = rf"[0-5]?\d(?: (?:{words(TO)}|-) \d{{1,3}} (?:{words(MINUTES)})| ?(?:[.;)\]\n](?!\d)|$))"
    bare_seconds = rf"(?:(?<![m']) (?={stands}))?(?P<rest{number}>\d{{1,2}}+(?:\.\d{{1,20}}+)?(?![\d:]|\.\d))"
    # 1h, 1h2m, 1h2m3s, 2m, 2m3s, 2m03, 2 minutes 3, 3s
    unit = (
        rf"(?:{hours}(?:{joint}{minutes.replace('<m', '<hm')})?(?:{joint}{seconds.replace('<s', '<hs')})?"
        rf"|{minutes}(?:{joint}{seconds.replace('<s', '<ms')}|{bare_seconds})?|{seconds})"
    )
    unit_of_clock = rf"(?P<clock{number}>{_CLOCK})(?:\s?(?:{words(SECONDS + '|' + MINUTES + '|' + HOURS)}))?"
    comma = rf"(?P<comma{number}>\d{{1,5}}+,\d{{1,2}}+(?![\d,.:]))(?:\s?(?P<comma_unit{number}>{words(SECONDS)}))?"
    prefix = rf"(?:(?P<prefix{number}>{words('second|seconds|minute|minutes|segundo|seconde|sekunde|secondo|detik|ke|第|секунды|секунда|วินาทีที่|วินาที|सेकंड|الثانية|minuto|menit|giây|phút')}|(?<=و)الثانية)\s?(?:ke-|ke )?)?"
    return rf"{_DIGITS}(?:{prefix}(?:{unit_of_clock}|{unit}|{comma}|(?P<number{number}>{_NUMBER})))"


def moment_pattern(number: str) -> str:
    """As `moment`, with the word or bracket that may stand before one."""
    before = r"(?:(?:about|around|roughly|approximately|approx\.?|ca\.?|the)\s|t\s?=\s?|[\[(<~≈]\s?|\"|第\s?|la\s|el\s|le\s|o\s|il\s|der\s|وال|detik ke-|ke-)?"
    return before + moment(number)


_TWO_DIGITS = re.compile(r":\d\d(?!\d)")
SEPARATOR = rf"\s?(?:[\])>\"]\s?)?(?:目|の|まで|में|mark|{ORDINAL})?\s?(?P<by>[,;]|-{{1,2}}>|[-~→]{{1,2}}|=>|\.{{2,3}}|(?P<and>{words(AND)}|و(?=ال))|{words(TO)})\s{{0,2}}"
SINGLE = re.compile(moment("1"))


def seconds(match: re.Match[str], number: str) -> float:
    """Return a matched moment in seconds (behind "minute" in minutes), a bare number as it stands."""
    if clock := match[f"clock{number}"]:
        total = 0.0
        for part in clock.replace(",", ".").split(":"):
            total = total * 60 + float(part)
        return total
    parts = {
        name: float(match[f"{key}{number}"])
        for name, keys in (("h", ("h",)), ("m", ("m", "hm")), ("s", ("s", "hs", "ms", "rest")))
        for key in keys
        if match[f"{key}{number}"]
    }
    if parts:
        return parts.get("h", 0.0) * 3600 + parts.get("m", 0.0) * 60 + parts.get("s", 0.0)
    value = float((match[f"comma{number}"] or match[f"number{number}"] or "0").replace(",", "."))
    return value * 60 if unit(match, number) == "m" else value


def unit(match: re.Match[str], number: str) -> str:  # noqa: PLR0911 - a table
    """Return a matched moment's form: `clock`, `h`, `m`, `s`, `metre` (a bare m) or none."""
    if clock := match[f"clock{number}"]:
        # 3:2 is as well a score.
        return "clock" if _TWO_DIGITS.search(clock) else ""
    if match[f"h_unit{number}"]:
        return "h" if not (match[f"hm{number}"] or match[f"hs{number}"]) else "s"
    if match[f"m_unit{number}"]:
        if match[f"ms{number}"] or match[f"rest{number}"]:
            return "s"
        return "metre" if match[f"m_unit{number}"] in ("m", "'") else "m"
    if match[f"s_unit{number}"] or match[f"comma_unit{number}"]:
        return "s"
    prefix = match[f"prefix{number}"]
    if prefix:
        return "m" if prefix.startswith(("min", "men", "phút")) else "s" if prefix not in ("ke", "第") else ""
    return ""
