"""Scripts and styles are sent without what says nothing, and do the same."""

import re

import pytest

from reelbench.pages import tight_code


@pytest.mark.parametrize(
    ("code", "tight"),
    [
        ('const a = "x , y" ;\n', 'const a="x , y";'),
        ("f( 'it\\'s , ' , 2 )\n", "f('it\\'s , ',2)"),
        ("const t = `a , ${ b ? `c , ${d}` : 'e , f' } , g`;\n", None),
        ("const q = s.split(/[,\"'] , /g) / 2 / 3;\n", "const q=s.split(/[,\"'] , /g)/ 2 / 3;"),
        ("return /[/'] , \\/ x/.test(a);\n", "return /[/'] , \\/ x/.test(a);"),
        ("a ? .5 : - 1\n", "a?.5:- 1"),
        ("x + +y - -z\n", "x + +y - -z"),
        ("/* gone\n   too */\nlet a = 1; // gone , too\nlet b = 2;\n", "let a=1;\nlet b=2;"),
        ("if (a) {\n  b();\n} else {\n  c();\n}\n", "if(a){b();}else{c();}"),
        ("const f = () => {\n};\nconst g = 1;\n", "const f=()=>{};const g=1;"),
    ],
)
def test_only_spaces_that_say_nothing_go(code, tight):
    made = tight_code.tight_script(code)
    if tight is None:  # a template is one piece
        assert "`a , ${ b ? `c , ${d}` : 'e , f' } , g`" in made
        return
    assert re.sub(r"\n$", "", made) == tight


def test_a_new_line_that_ends_a_statement_stays():
    code = "function f() {\n  return 1\n}\nlet a = f()\nlet b = 2\n"
    assert tight_code.tight_script(code) == "function f(){return 1}\nlet a=f()\nlet b=2\n"


def test_a_style_keeps_what_its_selectors_say():
    style = (
        '/* gone */\n.a :hover, .b > i::before {\n  content: ", ";\n  width: calc(1px + 2%) ;\n}\n'
    )
    assert (
        tight_code.tight_style(style)
        == '.a :hover,.b > i::before{\ncontent:", ";\nwidth:calc(1px + 2%);\n}\n'
    )
