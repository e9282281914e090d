"""A node for bad input, shared by a module, and a neighbour who must not notice the attacks."""

from collections.abc import Iterator

import pytest

from ..interop.target import Target, target
from .wire import Raw, is_serving


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    started = target(tmp_path_factory.mktemp("node"))
    started.start()
    yield started
    started.kill()


@pytest.fixture
def neighbour(node: Target) -> Iterator[Raw]:
    """A connection from before the attack, which is served before and after it."""
    with Raw(node.bootstrap) as connection:
        assert is_serving(connection)
        yield connection
        assert is_serving(connection)


@pytest.fixture
def attacker(node: Target) -> Iterator[Raw]:
    with Raw(node.bootstrap) as connection:
        yield connection
