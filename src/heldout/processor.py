"""One set of machine instructions and one thread, so that a job's bytes do not depend on the processor it runs on.

OpenBLAS, NumPy and numba choose kernels, exponentials and a target for the processor that they run on, and each choice
rounds differently. All three are restricted to the instructions of every x86-64 processor with AVX2 (Intel since 2013,
AMD since 2015). On other processors, such as ARM, they choose for themselves, and last digits may differ.
"""

import os
import platform
from pathlib import Path

# a matrix product's last digits depend on its threads too
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
KERNELS = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
TARGET = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}


def pin() -> None:
    """Set the environment variables of NumPy, OpenBLAS and numba; call it before their first import."""
    os.environ.update(THREADS)
    os.environ.pop("NUMBA_DISABLE_JIT", None)  # kernels need their compiler: its intrinsics cannot be interpreted
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    os.environ.update(KERNELS)
    flags = Path("/proc/cpuinfo")
    if flags.exists() and {"avx2", "fma"} <= set(flags.read_text(encoding="utf-8").split()):
        os.environ.update(TARGET)
