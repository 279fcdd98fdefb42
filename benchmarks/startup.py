"""Time to import, time to help, and what a plain install weighs.

    python benchmarks/startup.py [--rounds 9] [--install]

Medians over fresh processes. ``--install`` also installs the checkout into a throw-away virtual
environment and counts packages and megabytes.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent


def import_seconds() -> float:
    """What ``-X importtime`` says of ``import assay``."""
    command = [sys.executable, "-X", "importtime", "-c", "import assay"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    last = re.findall(r"\|\s*(\d+) \| assay$", said, re.MULTILINE)[-1]
    return int(last) / 1e6


def help_seconds() -> float:
    start = time.perf_counter()
    subprocess.run(
        [str(Path(sys.executable).parent / "assay"), "--help"], capture_output=True, check=True
    )
    return time.perf_counter() - start


def install() -> str:
    """Packages and size of a plain install."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        packages = next(Path(folder, "lib").glob("python*")) / "site-packages"
        before = size(packages)
        subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True)
        command = [python, "-m", "pip", "list", "--format=freeze"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        listed = said.splitlines()
        names = [line for line in listed if not line.startswith(("pip=", "setuptools="))]
        megabytes = (size(packages) - before) / 1e6
        return f"plain install: {len(names)} packages, {megabytes:.0f} MB beside pip"


def size(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and not f.is_symlink())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--install", action="store_true")
    options = parser.parse_args()
    for name, measure in (("import assay", import_seconds), ("assay --help", help_seconds)):
        times = [measure() for _ in range(options.rounds)]
        spread = f"least {min(times):.3f}, most {max(times):.3f}"
        print(f"{name}: median {median(times):.3f} s ({spread})")
    if options.install:
        print(install())


if __name__ == "__main__":
    main()
