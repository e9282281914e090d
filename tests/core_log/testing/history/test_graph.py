"""Circles are what a child finds by walking: nodes from which one comes back over another."""

from hypothesis import given
from hypothesis import strategies as st

from headwater.core_log.testing.history.graph import circles

EDGES = st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 9)), max_size=10)


def reachable(edges: dict[int, set[int]], start: int) -> set[int]:
    found: set[int] = set()
    left = [start]
    while left:
        for target in edges.get(left.pop(), ()):
            if target not in found:
                found.add(target)
                left.append(target)
    return found


@given(EDGES)
def test_circles_are_the_nodes_that_reach_each_other(edges: dict[int, set[int]]) -> None:
    nodes = {*edges, *(target for targets in edges.values() for target in targets)}
    reach = {node: reachable(edges, node) for node in nodes}
    expected = {
        frozenset({node, *(other for other in reach[node] if node in reach[other])})
        for node in nodes
    }
    found = {frozenset(circle) for circle in circles(edges)}
    assert found == {circle for circle in expected if len(circle) > 1}


def test_a_node_that_follows_itself_is_no_circle() -> None:
    assert circles({1: {1}}) == []


def test_a_long_chain_needs_no_deep_stack() -> None:
    """A history has more transactions than Python allows calls in each other."""
    length = 20_000
    chain = {node: {node + 1} for node in range(length)}
    assert circles(chain) == []
    chain[length] = {0}
    (circle,) = circles(chain)
    assert len(circle) == length + 1
