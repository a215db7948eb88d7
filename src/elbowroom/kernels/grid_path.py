"""Cheapest paths over grids on the floor, in several modes of going."""

from __future__ import annotations

import heapq

import numba as nb
import numpy as np

_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


@nb.njit(cache=True, nogil=True)
def _flood(cost, switch, start, goal, least):
    """Cost of the way from a start to each node, the node before it, and the node at which the goal was reached, -1 if
    it was not; see `cheapest_path`."""
    modes, ny, nx = cost.shape
    total = np.full(cost.shape, np.inf)
    come = np.full(cost.shape, -1, np.int64)
    heap = [(0.0, 0.0, np.int64(0))]
    heap.pop()
    for m in range(modes):
        if np.isfinite(cost[m, start[0], start[1]]):
            total[m, start[0], start[1]] = 0.0
            heapq.heappush(heap, (0.0, 0.0, np.int64((m * ny + start[0]) * nx + start[1])))
    found = np.int64(-1)
    while len(heap) > 0:
        _, so_far, node = heapq.heappop(heap)
        m, rest = node // (ny * nx), node % (ny * nx)
        j, i = rest // nx, rest % nx
        if so_far > total[m, j, i]:
            continue
        if j == goal[0] and i == goal[1]:
            found = node
            break
        for other in range(modes):
            if other != m and total[m, j, i] + switch < total[other, j, i] and np.isfinite(cost[other, j, i]):
                total[other, j, i] = total[m, j, i] + switch
                come[other, j, i] = node
                dj, di = abs(j - goal[0]), abs(i - goal[1])
                left = least * (max(dj, di) + 0.41421356 * min(dj, di))
                heapq.heappush(heap, (total[other, j, i] + left, total[other, j, i], (other * ny + j) * nx + i))
        for k in range(8):
            a, b = j + _STEPS[k][0], i + _STEPS[k][1]
            if a < 0 or b < 0 or a >= ny or b >= nx or not np.isfinite(cost[m, a, b]):
                continue
            far = 1.0
            if k > 3:
                if not (np.isfinite(cost[m, j, b]) and np.isfinite(cost[m, a, i])):
                    continue
                far = 1.41421356
            new = total[m, j, i] + far * 0.5 * (cost[m, j, i] + cost[m, a, b])
            if new < total[m, a, b]:
                total[m, a, b] = new
                come[m, a, b] = node
                dj, di = abs(a - goal[0]), abs(b - goal[1])
                left = least * (max(dj, di) + 0.41421356 * min(dj, di))
                heapq.heappush(heap, (new + left, new, (m * ny + a) * nx + b))
    return total, come, found


@nb.njit(cache=True, nogil=True)
def costs_from(cost, switch, start):
    """Cost of the cheapest path from a start (row, column) to each cell, (ny, nx); inf where there is none."""
    total, _, _ = _flood(cost, switch, start, np.array([-1, -1]), 0.0)
    best = total[0].copy()
    for m in range(1, len(total)):
        best = np.minimum(best, total[m])
    return best


@nb.njit(cache=True, nogil=True)
def cheapest_path(cost, switch, start, goal, least):
    """Cells (K, 3) of the cheapest path as mode, row, column, from a start (row, column) to a goal; empty if none.

    cost (M, ny, nx): of each cell's width in each mode, inf where it does not go; `switch`: of changing the mode;
    `least`: smallest cost of any cell, for the estimate of what is left.
    """
    _, ny, nx = cost.shape
    _, come, found = _flood(cost, switch, start, goal, least)
    count = 0
    node = found
    while node >= 0:
        count += 1
        node = come[node // (ny * nx), node % (ny * nx) // nx, node % nx]
    path = np.empty((count, 3), np.int64)
    node = found
    for k in range(count - 1, -1, -1):
        path[k] = node // (ny * nx), node % (ny * nx) // nx, node % nx
        node = come[path[k, 0], path[k, 1], path[k, 2]]
    return path


@nb.njit(cache=True, nogil=True)
def line_cost(cost, a, b):
    """Cost of the straight line between two cells (row, column), (2,) each, over a grid (ny, nx)."""
    dj, di = float(b[0] - a[0]), float(b[1] - a[1])
    far = np.sqrt(dj * dj + di * di)
    n = int(2.0 * far) + 1
    total = 0.0
    for k in range(n + 1):
        u = k / n
        c = cost[int(np.round(a[0] + u * dj)), int(np.round(a[1] + u * di))]
        if not np.isfinite(c):
            return np.inf
        total += c * (0.5 if k == 0 or k == n else 1.0)
    return total * far / n
