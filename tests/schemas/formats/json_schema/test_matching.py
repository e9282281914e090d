"""The largest matching of branches."""

from itertools import permutations

from hypothesis import example, given
from hypothesis import strategies as st

from headwater.schemas.formats.json_schema.matching import matched_count

edges = st.lists(st.lists(st.integers(0, 4), unique=True, max_size=5), max_size=5)


@example(edges=[[0, 1, 2], [0], [0]])  # who was displaced once must not be taken for free
@given(edges=edges)
def test_it_is_as_large_as_trying_every_assignment_finds(edges: list[list[int]]) -> None:
    """The model: give each left member any right member and count the edges."""
    best = max(
        sum(right in edges[left] for left, right in enumerate(order[: len(edges)]))
        for order in permutations(range(5))
    )

    assert best == matched_count(edges)


def test_a_long_chain_of_displacements_needs_no_recursion() -> None:
    """Each member must make way for the one before it."""
    size = 1_000
    chain = [[index, index + 1] for index in range(size - 1)]

    assert size == matched_count([*chain, [0]])
