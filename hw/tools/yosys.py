"""The command `yosys` of pyosys, as far as optireduce-hdl and its tests use it.

pyosys is the native yosys of PyPI, without a command. tests/run puts this one beside it.
Usage: yosys -V | yosys [-Q] [-T] -p COMMANDS
"""

import sys

from pyosys import libyosys

if sys.argv[1:] == ["-V"]:
    print(libyosys.yosys_maybe_version())
    sys.exit(0)
options = [word for word in sys.argv[1:-1] if word not in ("-Q", "-T")]
if options != ["-p"]:
    sys.exit(__doc__)
libyosys.run_pass(sys.argv[-1], libyosys.Design())
