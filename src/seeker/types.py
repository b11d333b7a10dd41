"""Names for the arrays that pass between the modules."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]
"""Items by their place in the catalog."""
