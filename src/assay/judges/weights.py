"""Where the files of a torch model are: a folder, else the hub; and where it may run."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from assay.errors import ConfigError, MissingExtra

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def need_torch(extra: str) -> None:
    """Raises MissingExtra unless torch, transformers and safetensors are installed."""
    if any(find_spec(name) is None for name in ("torch", "transformers", "safetensors")):
        raise MissingExtra("transformers and torch", extra)


def torch_device(name: str) -> str:
    """The device of a name: "cpu", "cuda", "cuda:1", "mps", "xpu".

    Raises ConfigError that lists what there is. "cpu" is there without loading torch.
    """
    if name == "cpu":
        return name
    import torch

    known = ["cpu"]
    if torch.cuda.is_available():
        known += ["cuda", *(f"cuda:{n}" for n in range(torch.cuda.device_count()))]
    if torch.backends.mps.is_available():
        known.append("mps")
    if hasattr(torch, "xpu") and torch.xpu.is_available():
        known += ["xpu", *(f"xpu:{n}" for n in range(torch.xpu.device_count()))]
    if name not in known:
        raise ConfigError(f"no device {name!r}; available: {', '.join(known)}")
    return name


def local_folder(where: str | Path) -> Path | None:
    """The folder, or None where a repository of the hub is meant; raises ConfigError if neither."""
    folder = Path(where).expanduser()
    if folder.is_dir():
        return folder
    if isinstance(where, Path) or not _REPO.fullmatch(where):
        raise ConfigError(f"{where} is no folder, and no repository of the hub (OWNER/NAME)")
    return None


def hub_file(repo: str, name: str, *, revision: str, offline: bool | None) -> Path:
    """One file of a repository, from the local cache or downloaded.

    ``offline`` None is what HF_HUB_OFFLINE says. Raises ConfigError that says what to do.
    """
    from huggingface_hub import hf_hub_download

    local = is_offline(offline)

    def fetch() -> str:
        return hf_hub_download(repo, name, revision=revision, local_files_only=local)

    return _fetched(fetch, repo, revision, name, local=local)


def hub_folder(
    repo: str, patterns: list[str], *, revision: str | None, offline: bool | None
) -> Path:
    """The folder with the files of a repository whose names match; not those in subfolders."""
    from huggingface_hub import snapshot_download

    local = is_offline(offline)

    def fetch() -> str:
        return snapshot_download(
            repo,
            revision=revision,
            allow_patterns=patterns,
            ignore_patterns=["*/*"],
            local_files_only=local,
        )

    return _fetched(fetch, repo, revision, "", local=local)


def is_offline(offline: bool | None) -> bool:
    """Whether downloads are off: as told, else as HF_HUB_OFFLINE says."""
    if offline is not None:
        return offline
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}


def digest(files: Iterable[Path]) -> str:
    """Identity of files by name and content, 16 hex digits."""
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            whole.update(
                f"{path.name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode()
            )
    return whole.hexdigest()[:16]


def _fetched(
    fetch: Callable[[], str], repo: str, revision: str | None, name: str, *, local: bool
) -> Path:
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError

    at = f" --revision {revision}" if revision else ""
    command = f"`hf download {repo}{f' {name}' if name else ''}{at} --local-dir DIR`"
    try:
        return Path(fetch())
    except GatedRepoError:
        why = (
            f"asks for consent: accept its terms at https://huggingface.co/{repo} and set HF_TOKEN"
        )
    except LocalEntryNotFoundError:
        why = "is not in the local cache, and " + (
            "downloads are off (HF_HUB_OFFLINE or offline=True)"
            if local
            else "the hub cannot be reached"
        )
    except (HfHubHTTPError, OSError, ValueError) as error:
        why = f"could not be downloaded: {type(error).__name__}: {str(error).strip()[:200]}"
    raise ConfigError(
        f"{repo} {name + ' ' if name else ''}{why}. Or run {command} where there is a network, "
        "and give the folder instead of the repository"
    )
