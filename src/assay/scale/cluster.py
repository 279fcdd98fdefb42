"""Ray: the user's own cluster, or one on this machine that nobody else can reach."""

from __future__ import annotations

import importlib
import importlib.util
import ipaddress
import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from assay.errors import ConfigError, MissingExtra

LEAST = (2, 54)
_STORE = 80 * 2**20
"""Bytes of the object store: only names, numbers and messages go between processes."""
_PATIENCE = 10.0
"""Seconds until a cluster that does not answer is not there."""
_LOOPBACK_ONLY = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Where this is 0, Ray serves this machine alone, and listens at its loopback address."""


@contextmanager
def cluster(address: str | None, cpus: int) -> Iterator[Any]:
    """The module ``ray``, connected; disconnected at the end if it was not before.

    ``address``, or the variable RAY_ADDRESS, is that of the user's cluster. Without, a cluster of
    this machine is started, with ``cpus`` at least. Raises MissingExtra, and ConfigError for a Ray
    that is too old or a cluster that is not there.
    """
    ray = load_ray()
    if ray.is_initialized():
        if address is not None:
            raise ConfigError("Ray is connected already: leave out the address, or ray.shutdown()")
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    if address == "local":
        _start(ray, max(cpus, os.cpu_count() or 1))
    else:
        _connect(ray, address)
    try:
        yield ray
    finally:
        ray.shutdown()


def load_ray() -> Any:
    """The module ``ray``, with its telemetry off; raises MissingExtra or ConfigError."""
    if importlib.util.find_spec("ray") is None:
        raise MissingExtra("Ray", "ray")
    # Ray reads these as it is imported.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    before = os.environ.get(_LOOPBACK_ONLY)
    os.environ[_LOOPBACK_ONLY] = before or "0"
    try:
        ray = importlib.import_module("ray")
    finally:
        if before is None:
            del os.environ[_LOOPBACK_ONLY]
    check_version(ray.__version__)
    return ray


def check_version(version: str) -> None:
    """Raise ConfigError for a Ray that is too old to be safe.

    >>> check_version("2.60.0")
    >>> check_version("2.53.1")
    Traceback (most recent call last):
    assay.errors.ConfigError: Ray 2.53.1 ends jobs for strangers (CVE-2026-27482); take 'ray>=2.54'
    """
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < LEAST:
        raise ConfigError(
            f"Ray {version} ends jobs for strangers (CVE-2026-27482); take 'ray>=2.54'"
        )


def _start(ray: Any, cpus: int) -> None:
    with _quiet():
        ray.init(
            address="local",
            num_cpus=cpus,
            include_dashboard=False,
            object_store_memory=_STORE,
            log_to_driver=False,
            configure_logging=False,
            namespace="assay",
            _node_ip_address="127.0.0.1",
        )
    where = ray.util.get_node_ip_address()
    if not ipaddress.ip_address(where).is_loopback:
        ray.shutdown()
        raise ConfigError(
            f"Ray would listen at {where}, not at the loopback alone, since it was imported "
            f"before; set {_LOOPBACK_ONLY}=0 before Python starts, or call ray.init yourself"
        )


def _connect(ray: Any, address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        if port.isdecimal():  # Ray itself goes on trying for minutes
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
        with _quiet():
            ray.init(
                address=address, log_to_driver=False, configure_logging=False, namespace="assay"
            )
    except (OSError, OverflowError, ValueError, RuntimeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise ConfigError(f"no Ray cluster at {address}: {first}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """While inside, Ray logs errors only."""
    log = logging.getLogger("ray")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
