"""Table of the settings."""

from typing import NamedTuple

from . import _optireduce


class Setting(NamedTuple):
    """A setting of `Communicator`: a row of `optireduce.SETTINGS`."""

    #: Keyword, with its unit.
    name: str
    #: Values that it may have, as text.
    values: str
    #: Default, as text; "launcher's" stands for the launcher's environment.
    default: str
    #: Whether ranks may have different values.
    may_differ: bool
    #: A value that is not the default.
    sample: str
    #: Environment variable, which a keyword overrides.
    variable: str
    #: Meaning, in one line.
    doc: str


#: All settings.
SETTINGS = tuple(Setting(*row) for row in _optireduce.settings())
