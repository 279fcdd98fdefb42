"""What every test shares: a clean environment and reproducible random examples."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import settings

settings.register_profile("assay", deadline=None, database=None, derandomize=True)
settings.load_profile("assay")


@pytest.fixture(autouse=True)
def _clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the developer has set for real judges does not reach the tests."""
    for name in ("ASSAY_JUDGE", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    # Every test has an answer cache of its own, made when it is first used.
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path_factory.getbasetemp() / f"{uuid4().hex}.sqlite"))
