"""`python -m seeker` is the command `seeker`."""

import sys

from seeker.cli import main

sys.exit(main())
