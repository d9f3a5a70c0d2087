# SPDX-License-Identifier: MIT
"""Copies packages that this Python has into another environment, which is much faster than installing them.

    same-packages.py REQUIREMENTS SITE_PACKAGES

Copies those that REQUIREMENTS, a lock file, names in the same version, and prints the lines of the others.
"""

import re
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

requirements, site = sys.argv[1:]
for lines in re.findall(r"^\w.*\n(?:[ \t].*\n)*", Path(requirements).read_text(), re.MULTILINE):
    name, version = re.match(r"([\w.-]+)(?:\[.*\])?==(\S+)", lines).groups()
    try:
        package = distribution(name)
    except PackageNotFoundError:
        package = None
    if package is None or package.version != version:
        print(lines, end="")
        continue
    for file in package.files:
        if ".." not in file.parts:  # programs, which name this Python
            to = Path(site, file)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(package.locate_file(file), to)
