"""What does not work does not type-check, for users with mypy --strict and with pyright."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

CALLS = Path(__file__).parent / "types/calls.py"
PROJECT = ROOT / "lib/python"


def said_by_mypy() -> set[tuple[int, str]]:
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--exclude", "^$", "--output", "json", str(CALLS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, env={**os.environ, "MYPYPATH": str(PROJECT / "src")})
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert found and not done.stderr, done.stdout + done.stderr
    assert {Path(each["file"]).name for each in found} == {CALLS.name}, done.stdout
    return {(each["line"], each["code"]) for each in found if each["severity"] == "error"}


def said_by_pyright() -> set[tuple[int, str]]:
    pyright = ROOT / "tests/node_modules/pyright/index.js"
    done = subprocess.run(["node", pyright, "--outputjson", "--pythonpath", sys.executable, CALLS], capture_output=True, text=True, cwd=PROJECT)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {(each["range"]["start"]["line"] + 1, each["rule"]) for each in found if each["severity"] == "error"}


@pytest.mark.parametrize(("checker", "said"), [(0, said_by_mypy), (1, said_by_pyright)], ids=["mypy", "pyright"])
def test_each_wrong_line_is_an_error_and_no_other_one(checker: int, said: object) -> None:
    lines = CALLS.read_text().splitlines()
    marks = {n: match[1] for n, line in enumerate(lines, 1) if (match := re.search(r"# wrong: (.*)$", line))}
    wrong = {(n, code) for n, mark in marks.items() for code in mark.split(", ")[checker].split()}
    assert len(wrong) > 30
    assert said() == wrong  # type: ignore[operator]
