"""``python -m agent_install``: see ``cli``."""

import sys

from agent_install.cli import main

sys.exit(main())
