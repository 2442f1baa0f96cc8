"""Fixtures of the tests."""

from collections.abc import Iterator

import pytest
from ranks import Ranks


@pytest.fixture(scope="session")
def job() -> Iterator[Ranks]:
    ranks = Ranks()
    yield ranks
    ranks.close()
