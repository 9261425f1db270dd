"""One set of machine instructions and one thread, so that a job's bytes do not depend on the processor it runs on.

OpenBLAS chooses its kernels, NumPy its exponentials and numba its target by the processor that they find, and each
choice rounds differently. All three are held to what every x86-64 processor with AVX2 has (Intel since 2013, AMD since
2015). Elsewhere, on ARM say, they choose for themselves, and last digits may differ.
"""

import os
import platform
from pathlib import Path

# a matrix product's last digits depend on its threads too
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
KERNELS = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"}
TARGET = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}


def pin() -> None:
    """Set what NumPy, OpenBLAS and numba read when they are first imported; to be called before that."""
    os.environ.update(THREADS)
    if platform.machine() not in ("x86_64", "AMD64"):
        return
    os.environ.update(KERNELS)
    flags = Path("/proc/cpuinfo")
    if flags.exists() and {"avx2", "fma"} <= set(flags.read_text(encoding="utf-8").split()):
        os.environ.update(TARGET)
