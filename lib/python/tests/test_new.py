"""`python -m urlmode new`: an example server in a folder of its own, which runs as it stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from conftest import ROOT, required
from packaging.requirements import Requirement

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}  # fmt: skip


def run(*arguments: Any, status: int = 0) -> str:
    done = subprocess.run([sys.executable, "-m", "urlmode", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def initialize(url: str, token: str) -> int:
    headers = {
        "Authorization": f"Bearer {token}", "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }  # fmt: skip
    try:
        with urlopen(Request(url, json.dumps(INITIALIZE).encode(), headers), timeout=60) as response:
            return int(response.status)
    except HTTPError as error:
        return error.code


@pytest.mark.parametrize("framework", ["sdk", "fastmcp"])
def test_a_server_that_runs_as_it_stands(framework: str, tmp_path: Path) -> None:
    folder = tmp_path / "a server"
    assert "requirements.txt is written" in run("new", framework, folder)
    names = [".env.example", "app.py", "requirements.txt", "server.py"]
    assert sorted(file.name for file in folder.iterdir()) == names
    assert (folder / "requirements.txt").read_text().startswith("urlmode[binary,")
    assert "python server.py" in (folder / "server.py").read_text()

    variables = {line.partition("=")[0] for line in (folder / ".env.example").read_text().splitlines() if line[:1].isalpha()}
    assert {"URLMODE_DATABASE_URL", "URLMODE_KEYS_FILE", "URLMODE_BASE_URL"} <= variables
    settings = {name: required(name) for name in variables if name.startswith("URLMODE_")}
    server = subprocess.Popen(
        # As a shell reads it, with the values of this stack.
        ["sh", "-c", '. ./.env.example; eval "$STACK"; exec "$PYTHON" server.py'], cwd=folder, stdout=subprocess.PIPE,
        text=True, env={
            **os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "lib/python/src"),
            "STACK": "\n".join(f"export {name}='{value}'" for name, value in settings.items()) + "\nexport PORT=0 APP_USERS",
        },
    )  # fmt: skip
    try:
        assert server.stdout
        url = server.stdout.readline().strip()
        assert [initialize(url, token) for token in ("a-token", "another")] == [200, 401]
    finally:
        server.terminate()
        assert server.wait(60) == 0
        if server.stdout:
            server.stdout.close()


@pytest.mark.parametrize("made", ["server", "Ada's server", "."])
def test_what_it_prints_is_run_as_it_stands(made: str, tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "urlmode", "new", "sdk", *([] if made == "." else [made])], check=True, capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "lib/python/src")},
    ).stdout  # fmt: skip
    commands = [line[4:] for line in said.splitlines() if line.startswith("    ")]
    readme = [line[4:] for line in (ROOT / "lib/python/README.md").read_text("utf-8").splitlines() if line.startswith("    ")]
    plain = [command.partition("  #")[0].rstrip() for command in commands]
    there = [command.partition("  #")[0].rstrip() for command in readme]
    after = there.index("python -m urlmode new fastmcp") + 1
    assert plain[-3:] == there[after : after + 3]
    for name in ("pip", "python"):
        (tmp_path / name).write_text('#!/bin/sh\nprintf "%s|%s|%s|%s\\n" "${0##*/}" "$*" "$PWD" "${URLMODE_BASE_URL-}"\n')
        (tmp_path / name).chmod(0o755)
    ran = subprocess.run(["sh", "-euc", "\n".join(commands)], check=True, capture_output=True, text=True, cwd=tmp_path, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    at = tmp_path.resolve() / made
    assert ran.stdout == f"pip|install -r requirements.txt|{at}|\npython|server.py|{at}|https://callback.example\n"


def test_in_a_checkout_the_requirement_is_the_checkout(tmp_path: Path) -> None:
    run("new", "sdk", tmp_path)
    wanted = f"urlmode[binary,mcp,oauth] @ {(ROOT / 'lib/python').as_uri()}"  # of an index, anybody may have the name
    assert (tmp_path / "requirements.txt").read_text().splitlines()[0] == wanted


def test_a_file_that_exists_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("mine")
    assert f"{tmp_path / 'app.py'} exists, and stays as it is" in run("new", "sdk", tmp_path)
    assert (tmp_path / "app.py").read_text() == "mine"
    assert (tmp_path / "server.py").exists()


@pytest.mark.parametrize(
    ("direct", "reference"),
    [
        ({"url": "file:///a%20b/urlmode.whl", "archive_info": {}}, "file:///a%20b/urlmode.whl"),
        ({"url": "file:///checkout", "dir_info": {"editable": True}, "subdirectory": "lib/python"}, "file:///checkout#subdirectory=lib/python"),
        (
            {"url": "https://git.example.com/urlmode.git", "subdirectory": "lib/python", "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": "0123abcd"}},
            "git+https://git.example.com/urlmode.git@0123abcd#subdirectory=lib/python",
        ),
        ({"url": "ssh://hg@hg.example.com/urlmode", "vcs_info": {"vcs": "hg", "commit_id": "0123"}}, "hg+ssh://hg@hg.example.com/urlmode@0123"),
        (None, None),
    ],
)
def test_the_requirement_is_from_where_it_was_installed(direct: dict[str, Any] | None, reference: str | None, tmp_path: Path) -> None:
    info = tmp_path / "site/urlmode-1.2.3.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: urlmode\nVersion: 1.2.3\n")
    if direct:
        (info / "direct_url.json").write_text(json.dumps(direct))
    subprocess.run(
        [sys.executable, "-m", "urlmode", "new", "sdk", tmp_path / "made"], check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}:{ROOT / 'lib/python/src'}"},
    )  # fmt: skip
    wanted = f"urlmode[binary,mcp,oauth] @ {reference}" if reference else "urlmode[binary,mcp,oauth]==1.2.3"
    assert (tmp_path / "made/requirements.txt").read_text().splitlines()[0] == wanted
    assert Requirement(wanted).name == "urlmode"


def test_what_it_says(tmp_path: Path) -> None:
    assert "fastmcp" in run("new")
    assert run("--help") == run("new", "--help") == run(status=2) == run("old", "sdk", status=2)
    assert run("new", "flask", status=2) == "there is no example for flask, but for sdk, paid, fastmcp\n"
    (tmp_path / "file").write_text("")
    assert run("new", "sdk", tmp_path / "file", status=1) == f"{tmp_path / 'file'}: File exists\n"
    assert not (tmp_path / "server.py").exists()
