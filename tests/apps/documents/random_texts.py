"""Random documents in the formats that are texts: `TEXTS[format](draw)` gives the tokens of one."""

import json


def text(draw):
    return draw.some(
        lambda: [*draw.rare_prose(), "\n"], lambda: [*draw.rare_prose(), "\n\n"], lambda: ["  \t\n"]
    )


def markdown(draw):
    return draw.some(*_markdown_blocks(draw))


def _markdown_blocks(draw):
    return (
        lambda: [*draw.prose(), "\n\n"],
        lambda: ["# ", *draw.prose(), "\n\n"],
        lambda: ["- ", *draw.prose(), " **", *draw.prose(), "** `", draw.literal(), "`\n\n"],
        lambda: ["[", *draw.prose(), f"](http://a.b/{draw.literal()})\n\n"],
        lambda: [f"```\n{draw.literal()}\n```\n\n"],
    )


def mdx(draw):
    imported = draw.either("", f"import A from '{draw.literal()}'\n\n")
    return [
        imported,
        *draw.some(
            *_markdown_blocks(draw),
            lambda: [f"<A id='{draw.literal()}'>\n\n", *draw.prose(), "\n\n</A>\n\n"],
            lambda: [*draw.prose(), f" {{f('{draw.literal()}')}} ", *draw.prose(), "\n\n"],
        ),
    ]


def html(draw):
    return ["<!doctype html>\n<html><body>", *draw.some(*_html_blocks(draw)), "</body></html>"]


def _html_blocks(draw):
    reference = _reference(draw)
    return (
        lambda: ["<p>", *draw.prose(reference), "</p>\n"],
        lambda: ["<p>", *draw.prose(), f"<b class='{draw.literal()}'>", *draw.prose(), "</b></p>"],
        lambda: ["<p>", *draw.prose(), f"<!-- {draw.literal()} -->", *draw.prose(), "</p>"],
        lambda: [f"<pre><code>{draw.literal()}</code></pre>\n"],
    )


def html_page(draw):
    script = [f"<script>{draw.literal()}</script>"] if draw.random.random() < 0.3 else []
    return [*html(draw)[:-1], *script, "</body></html>"]


def _reference(draw):
    """Writes some marks as references, but not what an edit is about."""

    def written(character):
        is_mark = character in "，。！" and draw.random.random() < 0.2
        return f"&#{ord(character)};" if is_mark else character

    return written


def vue(draw):
    script = draw.some(
        lambda: ["// ", *draw.prose(), "\n"],
        lambda: [f'const a = "{draw.literal()}";\n'],
    )
    return [
        "<template>\n<div>",
        *draw.some(*_html_blocks(draw)),
        "</div>\n</template>\n<script>\n",
        *script,
        f"</script>\n<style>/* {draw.literal()} */</style>\n",
    ]


def xml(draw):
    """As Android's strings.xml."""
    body = draw.some(
        lambda: [f'<string name="{draw.literal()}">', *draw.prose(_reference(draw)), "</string>\n"],
        lambda: ["<string name='a'>", *draw.prose(), "<b>", *draw.prose(), "</b></string>\n"],
        lambda: ["<string name='a'><![CDATA[", *draw.prose(), "]]></string>\n"],
        lambda: ["<!-- ", *draw.prose(), " -->\n"],
        lambda: [f"<?a {draw.literal()}?>\n"],
    )
    return ["<resources>\n", *body, "</resources>\n"]


def srt(draw):
    return [token for number in _cues(draw) for token in _cue(draw, f"{number}\n", number, ",")]


def vtt(draw):
    cues = [token for number in _cues(draw) for token in _cue(draw, "", number, ".")]
    return ["WEBVTT\n\n", *cues]


def _cues(draw):
    return range(1, draw.random.randint(2, 5))


def _cue(draw, head, number, point):
    return [f"{head}00:00:0{number}{point}000 --> 00:00:0{number}{point}900\n", *draw.prose(), "\n\n"]


def latex(draw):
    body = draw.some(
        lambda: [*draw.prose(), "\n\n"],
        lambda: ["\\section{", *draw.prose(), "}\n", f"\\label{{{draw.literal()}}}\n\n"],
        lambda: ["\\textbf{", *draw.prose(), "} $x$ ", *draw.prose(), "\n\n"],
        lambda: [f"\\begin{{verbatim}}\n{draw.literal()}\n\\end{{verbatim}}\n\n"],
    )
    return ["\\documentclass{article}\n\\begin{document}\n", *body, "\\end{document}\n"]


def rst(draw):
    return draw.some(
        lambda: [*draw.prose(), "\n\n"],
        lambda: [*draw.prose(), f" ``{draw.literal()}`` ", *draw.prose(), "\n\n"],
        lambda: [f".. code-block:: python\n\n   {draw.literal()}\n\n"],
    )


def asciidoc(draw):
    return draw.some(
        lambda: [*draw.prose(), "\n\n"],
        lambda: ["== ", *draw.prose(), "\n\n"],
        lambda: ["* ", *draw.prose(), " *", *draw.prose(), f"* `{draw.literal()}`\n\n"],
        lambda: [f"----\n{draw.literal()}\n----\n\n"],
        lambda: [f"// {draw.literal()}\n\n"],
    )


def org(draw):
    return draw.some(
        lambda: [*draw.prose(), "\n\n"],
        lambda: ["* ", *draw.prose(), "\n"],
        lambda: ["- ", *draw.prose(), f" ={draw.literal()}= ", *draw.prose(), "\n\n"],
        lambda: [f"[[http://a.b/{draw.literal()}][", *draw.prose(), "]]\n\n"],
        lambda: [f"#+begin_src python\n{draw.literal()}\n#+end_src\n\n"],
        lambda: [f"# {draw.literal()}\n\n"],
    )


def typst(draw):
    return draw.some(
        lambda: [*draw.prose(), "\n\n"],
        lambda: ["= ", *draw.prose(), "\n\n"],
        lambda: [*draw.prose(), f" `{draw.literal()}` $x$ *", *draw.prose(), "*\n\n"],
        lambda: [f'#let a = "{draw.literal()}"\n\n'],
        lambda: [f"// {draw.literal()}\n\n"],
    )


def code(draw):
    return draw.some(
        lambda: ["# ", *draw.prose(), "\n"],
        lambda: [f"{draw.literal()} = 1  # ", *draw.prose(), "\n"],
        lambda: [f"def {draw.literal()}(): pass\n\n"],
    )


def git_commit(draw):
    return [
        *draw.prose(),
        "\n\n",
        *draw.some(lambda: [*draw.prose(), "\n\n"], lambda: [f"# {draw.literal()}\n"]),
    ]


def _in_quotes(draw):
    """Writes all characters of a file as they are, or all as escapes."""
    return draw.either(str, lambda character: json.dumps(character)[1:-1])


def json_file(draw):
    written = _in_quotes(draw)
    members = draw.some(
        lambda: [f' "{draw.literal()}": "', *draw.prose(written, written), '",\n'],
        lambda: [' "a": ["', *draw.prose(written, written), '\\n", null],\n'],
    )
    return ["{\n", *members, ' "end": 1\n}\n']


def ipynb(draw):
    written = _in_quotes(draw)
    cells = draw.some(
        lambda: [
            ' {"cell_type": "markdown", "source": ["# ',
            *draw.prose(written, written),
            '\\n", "\\n", "',
            *draw.prose(written, written),
            f' `{draw.literal()}`"]}},\n',
        ],
        lambda: [f' {{"cell_type": "code", "source": ["# {draw.literal()}"]}},\n'],
    )
    return ['{"cells": [\n', *cells, ' {"cell_type": "raw", "source": []}\n], "nbformat": 4}\n']


def yaml(draw):
    written = _in_quotes(draw)
    return draw.some(
        lambda: [f"{draw.literal()}: ", *draw.prose(), "\n"],
        lambda: ['a: "', *draw.prose(written, written), '"\n'],
        lambda: ["list:\n  - ", *draw.prose(), "  # ", *draw.prose(), "\n"],
        lambda: ["block: |\n  ", *draw.prose(), "\n  ", *draw.prose(), "\n"],
    )


def po(draw):
    entries = draw.some(
        lambda: [f'#: {draw.literal()}\nmsgid "{draw.literal()}"\nmsgstr "', *draw.prose(), '"\n\n'],
        lambda: ["# ", *draw.prose(), '\nmsgid "a"\nmsgstr ""\n"', *draw.prose(), '\\n"\n\n'],
    )
    return ['msgid ""\nmsgstr "Language: zh\\n"\n\n', *entries]


def properties(draw):
    written = _in_quotes(draw)
    return draw.some(
        lambda: [f"{draw.literal()}=", *draw.prose(written, written), "\n"],
        lambda: ["# ", *draw.prose(), "\n"],
    )


def strings(draw):
    return draw.some(
        lambda: [f'"{draw.literal()}" = "', *draw.prose(), '";\n'],
        lambda: ["/* ", *draw.prose(), " */\n"],
    )


TEXTS = {
    "text": text,
    "markdown": markdown,
    "mdx": mdx,
    "html": html_page,
    "vue": vue,
    "xml": xml,
    "srt": srt,
    "vtt": vtt,
    "latex": latex,
    "rst": rst,
    "asciidoc": asciidoc,
    "org": org,
    "typst": typst,
    "code": code,
    "git-commit": git_commit,
    "json": json_file,
    "ipynb": ipynb,
    "yaml": yaml,
    "po": po,
    "properties": properties,
    "strings": strings,
}
