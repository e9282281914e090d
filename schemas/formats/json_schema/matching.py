"""The largest matching of two sets, for the branches of two combined schemas."""

from collections.abc import Sequence


def matched_count(edges: Sequence[Sequence[int]]) -> int:
    """How many left members can each have a right member of their own.

    *edges* lists, for each left member, the right members that it fits. Breadth-first search of
    augmenting paths: members times edges, and no recursion.
    """
    left_of: dict[int, int] = {}
    return sum(_augment(edges, left, left_of) for left in range(len(edges)))


def _augment(edges: Sequence[Sequence[int]], start: int, left_of: dict[int, int]) -> bool:
    """Find *start* a right member, moving others to other ones; True when that worked."""
    came_from: dict[int, int] = {}  # right member: left member that reached it
    right_of = {left: right for right, left in left_of.items()}
    lefts = [start]
    for left in lefts:
        for right in edges[left]:
            if right in came_from:
                continue
            came_from[right] = left
            if right in left_of:
                lefts.append(left_of[right])
                continue
            free: int | None = right
            while free is not None:
                owner = came_from[free]
                left_of[free] = owner
                free = right_of.get(owner)
            return True
    return False
