"""Puts into the package what the repository keeps elsewhere in lib/, where it is built from there."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShippedFiles(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        lib = Path(self.root).parent
        if not (lib / "currencies.json").is_file():
            return  # The files are in the source distribution.
        folder = "src/urlmode/_shipped" if self.target_name == "sdist" else "urlmode/_shipped"
        files = [lib / "currencies.json", lib / "node/src/adapters/clients.json", *sorted((lib / "providers").glob("*.json"))]
        files += sorted((lib / "contract").glob("*.schema.json"))
        files += [*sorted((lib / "python/examples").glob("*.py")), lib / "python/examples/.env.example"]
        build_data["force_include"].update({str(file): f"{folder}/{file.relative_to(lib)}" for file in files})
        # Without frameworks/, which are Node's.
        schema = [*(lib.parent / "sql").glob("*.sql"), *(lib.parent / "sql").glob("tables/*.sql"), *(lib.parent / "sql").glob("functions/*.sql")]
        build_data["force_include"].update({str(file): f"{folder}/{file.relative_to(lib.parent)}" for file in sorted(schema)})
        build_data["force_include"][str(lib.parent / "LICENSE")] = f"{folder}/LICENSE"
        # python -m urlmode migrate applies them.
        sql = lib.parent / "sql"
        build_data["force_include"].update({str(file): f"{folder}/sql/{file.relative_to(sql)}" for file in sorted(sql.rglob("*.sql"))})
        # Only a release has them (nginx/dist/documents.py).
        documents = lib / "python/documents"
        build_data["force_include"].update({str(file): f"{folder}/{file.relative_to(documents)}" for file in sorted(documents.rglob("*.md"))})
