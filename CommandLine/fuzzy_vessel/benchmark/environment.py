"""The machine that the figures come from."""

import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..report import versions
from .setting import Setting, usable_cores


def environment(setting: Setting, quick: bool) -> dict:
    """GPU, driver, processor, versions and date.

    Returns
    -------
    dict
    """
    found = {
        "card": None,
        "no_card": setting.no_gpu,
        "cpu": processor(),
        "cores": len(usable_cores()),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
        "quick": quick,
        "date": datetime.now(UTC).date().isoformat(),
    }
    return found | (gpu_properties(setting.gpu) if setting.gpu else {})


def gpu_properties(gpu: Any) -> dict:
    """Name, memory and driver of a CUDA device."""
    from FuzzyVesselCoreLib.gpu.availability import driver_version

    properties = gpu.properties
    driver = driver_version() or 0
    return {
        "card": _name(gpu),
        "multiprocessors": properties.get("multiProcessorCount"),
        "memory_gib": round(properties.get("totalGlobalMem", 0) / 2**30, 1),
        "compute_capability": f"{properties.get('major')}.{properties.get('minor')}",
        "driver_for_cuda": f"{driver // 1000}.{driver % 1000 // 10}",
        "driver": kernel_driver(),
    }


def _name(gpu):
    name = gpu.properties.get("name", gpu.name)
    return name.decode() if isinstance(name, bytes) else name


def kernel_driver() -> str | None:
    """The driver's own version, where Linux tells it."""
    path = Path("/sys/module/nvidia/version")
    return path.read_text().strip() if path.is_file() else None


def processor() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
