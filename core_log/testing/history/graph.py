"""Circles in a directed graph: Tarjan's strongly connected components, without recursion. Pure."""

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def circles(edges: Mapping[N, Collection[N]]) -> list[list[N]]:
    """The strongly connected components of more than one node; linear in nodes and edges.

    A node in several circles is in one component with all of them. An edge from a node to itself
    makes no circle. (Tarjan, Depth-first search and linear graph algorithms, 1972.)
    """
    number: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    on_stack: set[N] = set()
    found = []
    for root in edges:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(edges[root]))]
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(edges.get(target, ()))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    component = _popped_until(node, stack)
                    on_stack.difference_update(component)
                    if len(component) > 1:
                        found.append(component)
    return found


def _popped_until(node: N, stack: list[N]) -> list[N]:
    position = len(stack) - 1
    while stack[position] != node:
        position -= 1
    component = stack[position:]
    del stack[position:]
    return component
