import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="glibc only")
def test_freed_memory_is_kept_for_the_next_allocation():
    """After one warm-up, a large array is had again without a page fault a page."""
    code = """
import resource
import numpy as np
from paretognn.allocator import keep_freed_memory
keep_freed_memory()
np.ones(40 << 18)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
np.ones(40 << 18)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2000  # of 20,480 pages
