"""MkDocs hook: adds the pages outside docs/ and the API reference to the site.

The pages at the root of the project and in docs/ link to each other and to source files, as they are read in
the repository. On the site the former links are adapted and the latter become plain text.
"""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
ROOT_PAGES = {
    "README.md": "index.md",
    "README.zh-CN.md": "index.zh-CN.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
PUBLIC = """# `nmspeller`

The names to import: `from nmspeller import Speller`.

::: nmspeller.Speller

::: nmspeller.Correction
    options: {show_if_no_docstring: true}

::: nmspeller.Edit
    options: {show_if_no_docstring: true}

::: nmspeller.InputError
"""
PACKAGES = {
    "nmspeller.runtime": "checking text",
    "nmspeller.text": "characters, windows, protected spans, script",
    "nmspeller.knowledge": "pinyin, glyphs, confusion sets",
    "nmspeller.lab.data": "data sets, pairs, noise, prepared arrays",
    "nmspeller.lab.models": "encoder, masking layer, spellers",
    "nmspeller.lab.training": "pretraining and fine-tuning",
    "nmspeller.lab.evaluation": "metrics, suites, experiments",
    "nmspeller.lab.export": "ONNX export, quantisation, calibration",
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def on_config(config: MkDocsConfig) -> None:
    """Complete the navigation, which mkdocs.yml gives for the hand-written guides only."""
    results = sorted((ROOT / "docs" / "results").glob("*.md"))
    config.nav += [
        {"Results": [f"results/{path.name}" for path in results]},
        {"API": ["reference/nmspeller.md"] + [{package: f"reference/{package}.md"} for package in PACKAGES]},
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for source, target in ROOT_PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, target, content=adapt_links(text, PurePosixPath(source))))
    files.append(File.generated(config, "reference/nmspeller.md", content=PUBLIC))
    for package, contents in PACKAGES.items():
        text = reference_page(package, contents)
        files.append(File.generated(config, f"reference/{package}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Adapt the links of the pages in docs/."""
    if page.file.generated_by:
        return markdown
    return adapt_links(markdown, PurePosixPath("docs") / page.file.src_uri)


def adapt_links(text: str, place: PurePosixPath) -> str:
    """The text with its relative links as they are on the site.

    Args:
        text: Markdown.
        place: where it is, from the root of the project.
    """

    def adapt(match: re.Match[str]) -> str:
        image, label, link = match.groups()
        path, hash_sign, anchor = link.partition("#")
        if "://" in link or not path:
            return match.group()
        target = normpath(str(place.parent / path))
        if target in ROOT_PAGES:
            target = f"docs/{ROOT_PAGES[target]}"
        if not target.startswith("docs/"):
            return label
        depth = len(place.parent.parts) - 1 if place.parts[0] == "docs" else 0
        return f"{image}[{label}]({'../' * depth}{target.removeprefix('docs/')}{hash_sign}{anchor})"

    return LINK.sub(adapt, text)


def reference_page(package: str, contents: str) -> str:
    """Markdown that has mkdocstrings print every module of a package."""
    source = ROOT / "src"
    paths = sorted((source / package.replace(".", "/")).rglob("[!_]*.py"))
    modules = [".".join(path.relative_to(source).with_suffix("").parts) for path in paths]
    directives = "\n\n".join(f"::: {module}" for module in modules)
    return f"# `{package}`\n\n{contents[0].upper()}{contents[1:]}.\n\n{directives}\n"
