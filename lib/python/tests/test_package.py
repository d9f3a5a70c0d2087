"""The package as pip installs it into an empty environment, and what its documents show."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pickle
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, required

import urlmode

PROJECT = ROOT / "lib/python"
DOCUMENTS = "".join((PROJECT / name).read_text("utf-8") for name in ("README.md", "ADAPTERS.md", "REFERENCE.md"))
EXAMPLES = re.findall("^```python\n(.*?)^```$", DOCUMENTS, re.MULTILINE | re.DOTALL)


def run(*command: str | Path, **options: Any) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def test_the_lowest_versions_are_those_that_are_tested() -> None:
    tested = dict(re.findall(r"^([a-z]+)(?:\[.*\])?==(.*)$", (ROOT / "tests/frameworks/oldest/requirements.in").read_text(), re.MULTILINE))
    declared = re.findall(r'"([a-z]+)(?:\[.*\])?>=([0-9.]+)', (PROJECT / "pyproject.toml").read_text().partition("[project]")[2])
    assert {name for name, _ in declared} == {*tested}
    for name, lowest in declared:
        assert re.fullmatch(re.escape(lowest) + r"(\.0)*", tested[name]), name


MODULES = [importlib.import_module(f"urlmode{name}") for name in ("", ".mcp", ".fastmcp", ".oauth", ".otel", ".sync", ".testing", ".vault")]
FUNCTIONS = {id(each): each for module in MODULES for name in module.__all__ for each in [getattr(module, name)] if inspect.isroutine(each)}
CLASSES = {each for module in MODULES for name in module.__all__ for each in [getattr(module, name)] if inspect.isclass(each) and not hasattr(each, "_is_protocol")}
HAS_NO_ERRORS = {"accept", "approve", "decline", "expire", "hold", "members", "own_request", "resolver_middleware", "span_events", "type_in"}
"""They make a value of what they have."""


def names_errors(function: object) -> bool:
    return re.search(r"Raises|with \w+Error", inspect.getdoc(function) or "") is not None


def test_each_public_function_names_its_errors() -> None:
    silent = {each.__name__ for each in FUNCTIONS.values() if not names_errors(each)}
    assert len(FUNCTIONS) > 20 and silent <= HAS_NO_ERRORS


def test_each_public_method_names_its_errors() -> None:
    methods = [
        (f"{cls.__module__}.{name}", method)
        for cls in CLASSES
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") and name not in HAS_NO_ERRORS and method.__module__.startswith("urlmode")
    ]
    assert len(methods) > 70 and [name for name, method in methods if not names_errors(method)] == []


def test_a_traceback_names_the_module_that_users_import() -> None:
    errors = [each for each in vars(urlmode).values() if isinstance(each, type) and issubclass(each, urlmode.UrlModeError)]
    assert len(errors) > 20 and {each.__module__ for each in errors} == {"urlmode"}
    assert pickle.loads(pickle.dumps(urlmode.UrlModeClosedError)) is urlmode.UrlModeClosedError


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel and the source distribution, and the wheel that is built of the latter."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, PROJECT)
    return folder


@pytest.mark.parametrize(("kind", "extras"), [("*.whl", "binary,mcp,fastmcp,oauth"), ("*.tar.gz", "binary")])
def test_it_works_in_an_empty_environment(built: Path, kind: str, extras: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (package,) = built.glob(kind)
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env/bin/python"
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    options = ["--quiet", "--no-compile", "--no-index", "--find-links", os.environ.get("WHEELS", ""), "--no-build-isolation"]
    run(sys.executable, "-m", "pip", "install", *options, "--target", site, f"{package}[{extras}]")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))
    price = "from urlmode import Expected; from urlmode._core import price as _price; print(_price.price_of('stripe', Expected(5, 'ISK')))"
    assert run(python, "-c", price) == "500\n"
    if "mcp" in extras:
        known = "from urlmode import fastmcp, mcp; from urlmode._adapters import clients; print(mcp.Accepted is fastmcp.Accepted, len(clients._table()) > 0)"
        assert run(python, "-c", known) == "True True\n"
    run(python, "-m", "urlmode", "new", "fastmcp", tmp_path / "new")
    requirements = (tmp_path / "new/requirements.txt").read_text()
    assert requirements == f"urlmode[binary,fastmcp,oauth] @ {package.as_uri()}\nuvicorn\n"
    assert run(python, "-m", "urlmode", "--version") == f"urlmode {urlmode.__version__}\n"
    migrations = "from urlmode._commands.migrate import _migrations; print(*_migrations(True))"
    there = sorted(file.relative_to(ROOT / "sql") for file in (ROOT / "sql").rglob("tables/*.sql"))
    assert sorted(run(python, "-c", migrations).split()) == sorted(str(file).replace("tables/", "") for file in there)
    assert (Path(site) / "urlmode/py.typed").is_file()
    assert (Path(site) / "urlmode/_shipped/LICENSE").is_file()

    admin_url = required("URLMODE_ADMIN_DATABASE_URL")
    schema = f"""import asyncio, psycopg
from urlmode.testing import temporary_database
async def main():
    async with temporary_database({admin_url!r}) as url, await psycopg.AsyncConnection.connect(url) as connection:
        print(await (await connection.execute("SELECT urlmode.functions_version() > 0")).fetchone())
asyncio.run(main())"""
    assert run(python, "-c", schema) == "(True,)\n"

    program = EXAMPLES[0].replace("pkce=True,", "pkce=True, ttl=0.5,")
    assert 'provider="github"' in program
    required("URLMODE_DATABASE_URL")
    said = run(python, "-c", program, cwd=tmp_path)
    link = r"http://127\.0\.0\.1:\d+/connect/github\?state=[\w-]{43}"
    assert re.fullmatch(rf"elicit with {link}\ncancel expired \[\]\n", said)


def test_the_commands_of_readme_as_they_stand_in_an_empty_environment(built: Path, tmp_path: Path) -> None:
    """But for the first one, which has built the wheel, and with a mirror of the packages in place of the index."""
    text = (PROJECT / "README.md").read_text("utf-8")
    sections = text.partition("\n## Install\n")[2].partition("\n## Use\n")[0]
    commands = [line[4:] for line in sections.splitlines() if line.startswith("    ")]
    assert commands[0].startswith("make dist PARTS=python ") and commands[-1].endswith("python server.py            # the server prints its URL")
    venv.create(tmp_path / "env", with_pip=True)
    (wheel,) = built.glob("*.whl")
    folder = tmp_path / "folder"
    (folder / "build/dist").mkdir(parents=True)
    (folder / "build/dist" / wheel.name).write_bytes(wheel.read_bytes())
    env = {"PATH": f"{tmp_path / 'env/bin'}:{os.environ['PATH']}", "HOME": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": os.environ.get("WHEELS", ""),
           "PIP_NO_COMPILE": "1"}  # fmt: skip
    for command in commands[1:-1]:
        run("bash", "-ec", command.replace("VERSION", wheel.name.split("-")[1]), cwd=folder, env=env)
    settings = {name: required(f"URLMODE_{name}") for name in ("DATABASE_URL", "KEYS_FILE", "BASE_URL")}
    written = re.sub(r"^URLMODE_(\w+)=.*$", lambda found: f"URLMODE_{found[1]}='{settings[found[1]]}'", (folder / ".env").read_text(), flags=re.MULTILINE)
    (folder / ".env").write_text(re.sub(r"^PORT=.*$", "PORT=0", written, flags=re.MULTILINE))
    last = commands[-1].replace("python server.py", "exec python server.py")
    with subprocess.Popen(["bash", "-ec", last], cwd=folder, env={**env, "PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout is not None
        try:
            said = next((line for line in server.stdout if "http://" in line), "")
        finally:
            server.terminate()
    assert re.search(r"http://127\.0\.0\.1:\d+", said)


def test_the_examples_have_the_types_that_they_say(tmp_path: Path) -> None:
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"example{number}.py").write_text(example)
    # With the options of the whole package, so that what mypy knows of the frameworks can be in one cache, MYPY_CACHE_DIR.
    run(sys.executable, "-m", "mypy", "--config-file", PROJECT / "pyproject.toml", *sorted(tmp_path.glob("*.py")), cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(PROJECT / "src")})  # fmt: skip


def test_no_module_imports_itself_by_way_of_others() -> None:
    package = ROOT / "lib/python/src/urlmode"
    imports: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for file in package.rglob("*.py"):
        module = file.relative_to(package).with_suffix("").parts
        imports[module] = set()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = module[: len(module) - node.level]
                names = [node.module.split(".")] if node.module else [[alias.name] for alias in node.names]
                imports[module].update((*folder, *name) for name in names)

    def find_circle(path: list[tuple[str, ...]]) -> None:
        for other in sorted(imports.get(path[-1], set()) - done):
            assert other not in path, " → ".join(".".join(each) for each in [*path, other])
            find_circle([*path, other])
        done.add(path[-1])

    done: set[tuple[str, ...]] = set()
    for module in sorted(imports):
        find_circle([module])
    assert len(done) > 60
