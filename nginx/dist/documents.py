#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents of a package, whose links lead to what the package has, or to the repository.

documents.py write TREE REF: writes those of the packages for Node, Python and Go in a copy of the tree, at the commit or tag REF.
In Node they stay where they are. In Python they are in python/documents/, which the wheel has as urlmode/_shipped/.
README.md, which npm and PyPI show, has no links to files at all, in Node as soon as there is a repository. In Go those of
others are in documents/ of the module urlmode, and the examples in _examples/, which Go does not compile.

documents.py host TREE REF FOLDER: writes those of the callback host into a folder, as nginx/install has them.

documents.py check FOLDER: names each link of the documents below it that leads to no file there.
"""

import posixpath
import re
import shutil
import sys
from pathlib import Path

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
PLACEHOLDER = re.compile(r"([/.@]|^)(example\.(com|org|net)|[\w-]+\.(invalid|example))(/|$)")

# What of the tree is where in the package; the first one that fits.
NODE = (
    (r"lib/node/((?:[A-Z]+\.md|package\.json)|(?:bin|examples|src)/.*)", r"\1"),
    (r"lib/providers/(.*\.(?:json|md))", r"providers/\1"),
    (r"lib/contract/(.*\.schema\.json)", r"contract/\1"),
    (r"(sql/.*\.sql)", r"\1"),
    (r"lib/currencies\.json", "currencies.json"),
    (r"nginx/debian/changelog", "changelog"),
)
PYTHON = (
    (r"lib/(python/(?:[A-Z]+\.md|examples/.*\.py)|node/[A-Z]+\.md|providers/.*\.(?:json|md)|contract/.*\.schema\.json|currencies\.json)", r"\1"),
    (r"(sql/.*\.sql)", r"\1"),
)
GO = (
    (r"lib/go/examples/(.*)", r"_examples/\1"),
    (r"lib/go/(?!(?:mcp|mcpgo|vault)/)(.*)", r"\1"),
    (r"lib/((?:node|providers)/[A-Z]+\.md)", r"documents/\1"),
)
HOST = (
    (r"(README\.md|lib/PROTOCOL\.md|lib/providers/.*\.md|nginx/(?!debian/).*\.md|nginx/(?:others|monitoring)/.*)", r"\1"),
    (r"nginx/(examples/.*)", r"\1"),
)
NOTHING: tuple[tuple[str, str], ...] = ()


class Documents:
    def __init__(self, tree: Path, ref: str):
        self.tree = tree
        names = dict(re.findall("^([a-z]+)=(.*)$", (tree / "nginx/dist/names").read_text("utf-8"), re.MULTILINE))
        repository = names["repository"]
        self.base = None if PLACEHOLDER.search(repository) else f"{repository}/blob/{ref}"

    def rewritten(self, source: str, package: tuple[tuple[str, str], ...]) -> str:
        """The text of a document of the tree, in this package."""
        at = posixpath.dirname(self.place(source, package) or "")

        def link(found: re.Match[str]) -> str:
            image, text, target = found.groups()
            path, mark, fragment = target.partition("#")
            if not path or re.match("[a-z]+:", path):
                return found[0]
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
            # Brackets and parentheses of code. A source package has no tests.
            if not (self.tree / path).exists() and not path.startswith("tests/"):
                return found[0]
            inside = self.place(path, package)
            if inside:
                return f"{image}[{text}]({posixpath.relpath(inside, at or '.')}{mark}{fragment})"
            if self.base:
                return f"{image}[{text}]({self.base}/{path}{mark}{fragment})"
            return f"{text} (`{path}` in the repository)"

        return LINK.sub(link, (self.tree / source).read_text("utf-8"))

    def place(self, path: str, package: tuple[tuple[str, str], ...]) -> str | None:
        if not (self.tree / path).is_file():
            return None
        return next((re.sub(f"^{source}$", to, path) for source, to in package if re.fullmatch(source, path)), None)

    def list(self, *patterns: str) -> list[str]:
        return sorted(str(file.relative_to(self.tree)) for pattern in patterns for file in self.tree.glob(pattern))

    def write(self) -> None:
        node = {source: self.rewritten(source, NODE) for source in self.list("lib/node/*.md", "lib/providers/*.md")}
        python = {source: self.rewritten(source, PYTHON) for source in self.list("lib/python/*.md", "lib/node/*.md", "lib/providers/*.md")}
        go = {source: self.rewritten(source, GO) for source in self.list("lib/go/**/*.md", "lib/node/*.md", "lib/providers/*.md")}
        shown = self.rewritten("lib/python/README.md", NOTHING)
        if self.base:
            node["lib/node/README.md"] = self.rewritten("lib/node/README.md", NOTHING)
        for source, text in python.items():
            file = self.tree / "lib/python/documents" / source.removeprefix("lib/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        # Without go.mod, which would make them a module that the archive does not have.
        shutil.copytree(self.tree / "lib/go/examples", self.tree / "lib/go/_examples", ignore=shutil.ignore_patterns("go.*"), dirs_exist_ok=True)
        for source, text in go.items():
            file = self.tree / "lib/go" / (self.place(source, GO) or "")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        for source, text in node.items():
            # Those of providers are copied when the package is made.
            (self.tree / source).write_text(text, "utf-8")
        (self.tree / "lib/python/README.md").write_text(shown, "utf-8")

    def write_host(self, to: Path) -> None:
        for source in self.list("README.md", "lib/PROTOCOL.md", "lib/providers/**/*.md", "nginx/**/*.md"):
            (to / source).parent.mkdir(parents=True, exist_ok=True)
            (to / source).write_text(self.rewritten(source, HOST), "utf-8")


def dead_links(folder: Path) -> list[str]:
    return [
        f"{document.relative_to(folder)}: {target}"
        for document in sorted(folder.rglob("*.md"))
        for _, _, target in LINK.findall(re.sub("^```.*?^```$", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL))
        if re.search(r"[/.]", target) and not re.match("[a-z]+:|#", target) and not (document.parent / target.partition("#")[0]).exists()
    ]


if __name__ == "__main__":
    command, folder, *given = sys.argv[1:]
    if command == "check":
        dead = dead_links(Path(folder))
        print("".join(f"{each}\n" for each in dead), end="")
        sys.exit(bool(dead))
    documents = Documents(Path(folder), given[0])
    if command == "host":
        documents.write_host(Path(given[1]))
    else:
        documents.write()
