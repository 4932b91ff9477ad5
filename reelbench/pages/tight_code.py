"""Make scripts and styles small: without comments, indentation and spaces that say nothing.

Visitors load them often, and nobody reads them there. No text of ours goes over a line's end.
"""

import re

_BETWEEN = re.compile(r"\s*([=*?:;,{(<>&|!\[]+)\s*|\s*([})\]]) *")
"""Signs of a script that need no space beside them, and no new line but after a closing one.

With `+` and `-` there is a space that does.
"""
_OF_STYLE = re.compile(r'("[^"]*")| ?([{};,]) ?|(?<=[\w)-]): ')
"""Signs of a style that need no space. In a selector a space before a colon says something."""
_BEFORE_PATTERN = frozenset("(,=:[!&|?{};>")
"""Signs after which a slash begins a regular expression, and does not divide."""


def tight_script(code: str) -> str:
    """Return a script that does the same."""
    text = "\n".join(_code_lines(code)) + "\n"
    parts: list[str] = []
    start = 0
    place = 0
    while place < len(text):
        end = _end_of_text(text, place)
        if end == place:
            place += 1
            continue
        parts.append(_BETWEEN.sub(r"\1\2", text[start:place]))
        if not text.startswith("//", place):
            parts.append(text[place:end])
        start = place = end
    parts.append(_BETWEEN.sub(r"\1\2", text[start:]))
    return "".join(parts)


def tight_style(code: str) -> str:
    """Return a style that says the same."""
    return "".join(f"{_OF_STYLE.sub(_sign, line).strip()}\n" for line in _code_lines(code))


def _sign(match: re.Match[str]) -> str:
    return match[1] or match[2] or ":"


def _code_lines(code: str) -> list[str]:
    """Return the lines without indentation and comments of whole lines."""
    lines: list[str] = []
    in_comment = False
    for line in code.splitlines():
        text = line.strip()
        if text.startswith("/*"):
            in_comment = True
        is_code = text and not in_comment and not text.startswith("//")
        if is_code:
            lines.append(text)
        if in_comment and "*/" in text:
            in_comment = False
            lines.append(text.partition("*/")[2].strip())
    return [line for line in lines if line]


def _end_of_text(code: str, place: int) -> int:
    """Return the end of the text, template, pattern or comment that begins at a place.

    It is the place itself where none begins there.
    """
    sign = code[place]
    if sign in "\"'":
        return _after_closing(code, place, sign)
    if sign == "`":
        return _end_of_template(code, place)
    if code.startswith("//", place):
        return code.index("\n", place)
    if sign == "/" and _may_begin_pattern(code, place):
        return _end_of_pattern(code, place)
    return place


def _may_begin_pattern(code: str, place: int) -> bool:
    """Return True of a slash that can't divide."""
    before = place - 1
    while before >= 0 and code[before].isspace():
        before -= 1
    is_after_word = code.endswith("return", 0, before + 1)
    return before < 0 or code[before] in _BEFORE_PATTERN or is_after_word


def _after_closing(code: str, place: int, sign: str) -> int:
    end = place + 1
    while code[end] != sign:
        end += 2 if code[end] == "\\" else 1
    return end + 1


def _end_of_template(code: str, place: int) -> int:
    """Return the end of a template, with the templates and texts in its expressions."""
    end = place + 1
    depth = 0
    while depth or code[end] != "`":
        if code[end] == "\\":
            end += 2
        elif code.startswith("${", end) and not depth:
            depth = 1
            end += 2
        elif depth and code[end] in "\"'`/" and _end_of_text(code, end) > end:
            end = _end_of_text(code, end)
        else:
            if depth:
                depth += (code[end] == "{") - (code[end] == "}")
            end += 1
    return end + 1


def _end_of_pattern(code: str, place: int) -> int:
    end = place + 1
    in_class = False
    while in_class or code[end] != "/":
        if code[end] == "\\":
            end += 1
        elif code[end] in "[]":
            in_class = code[end] == "["
        end += 1
    return end + 1
