"""Ground under feet: carpets and sills that are walked on rather than around, stairs, and what is stepped over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.kernels.columns import surface_heights
from elbowroom.locomotion.course import facing, leftwards
from elbowroom.locomotion.figure import SIDES, figure
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.terrain import Foothold, Terrain
from elbowroom.motion.edit import place as set_down
from elbowroom.world.columns import CELL_M, Columns
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World

NOWHERE = np.zeros((0, 2))
# Height above the floor up to which things are stood on as if they were the floor, metres.
LOW_M = 0.06
# Metres above the ground up to which feet are lifted over things, and from where the way leads over them.
_OVER_M, _OVER_NEAR_M = 0.56, 0.6
# Metres of a foot before and behind the ankle and to its sides at which the ground is felt, for a leg of 0.92 m, and
# between which it carries.
_FOOT_M = np.stack(np.meshgrid(np.linspace(-0.08, 0.2, 15), np.linspace(-0.055, 0.055, 5)), axis=-1).reshape(-1, 2)
_CARRIES = (_FOOT_M[:, 0] > -0.03) & (_FOOT_M[:, 0] < 0.12)
# Unevenness of a foothold, and distances along the foot at which others are searched, nearest first, metres.
_UNEVEN_M = 0.015
# Unevenness of a ramp under a foot, metres, and its steepest slope.
_BUMPY_M, _STEEPEST = 0.006, 0.3
# Metres behind and before a foot in which no ground is higher, the most of them first.
# Stepping over an obstacle, the foot lands farther beyond it: the shin leans back.
_MARGINS_OVER_M = ((-0.3, 0.14), (-0.3, 0.1), (-0.22, 0.08), (-0.16, 0.06))
_MARGINS_M = ((-0.1, 0.06), (-0.06, 0.025), (-0.03, 0.015), (0.0, 0.0))
# Metres that smaller margins count as: a foot does not go to another tread for more room. Those beyond an obstacle come
# before all nearness.
_LESS_MARGIN_M, _LESS_OVER_M = 0.06, 1.0
# Weight of a displacement that differs from the one of the step before: flights are climbed tread by tread.
_UNLIKE_LAST = 0.9
# Those farther off are checked where something is stepped over.
_AHEAD_M = np.array(sorted(np.arange(-0.42, 0.421, 0.01), key=abs))
_AHEAD_LEVEL = 61
# Farthest points that are felt of a foot, and of all footholds beside the one that is wished for, metres.
_SOLE_M = float(np.linalg.norm(_FOOT_M, axis=1).max())
_REACH_M = float(np.abs(_AHEAD_M).max() + np.abs(_MARGINS_OVER_M).max()) + _SOLE_M
# Metres between points whose height is known, and around a way.
_SPACING_M, _AROUND_M = 0.02, 0.6
# Depth to which soles may press into their support, and their gap above it, metres.
_PRESS_M, _ABOVE_M = 0.004, 0.0005
# Seconds of standing before the first task.
_MOMENT_S = 0.3


class Ground(Terrain):
    """Heights above a floor of the ground near points (N, 2); `stood` are the names of everything a foot was put on.

    columns: for a walker who climbs; otherwise only low things are stood on. Near positions `over` (K, 2) feet are
    lifted over what is there.
    """

    def __init__(
        self, world: World, t: float, scale: float, points: Array, columns: Columns | None = None, over: Array = NOWHERE
    ) -> None:
        self._floor = 0.0 if world.floor is None else world.floor
        self._scale = scale
        low, high = np.min(points, axis=0) - _AROUND_M, np.max(points, axis=0) + _AROUND_M
        self._origin = _SPACING_M * np.floor(low / _SPACING_M)
        nx, ny = np.ceil((high - self._origin) / _SPACING_M).astype(int) + 1
        self._ground = np.zeros((ny, nx))
        x = self._origin[0] + _SPACING_M * np.arange(nx)
        y = self._origin[1] + _SPACING_M * np.arange(ny)
        if columns is not None and columns.ground is not None:
            i, j = ((v - o) / CELL_M for v, o in ((x, columns.origin[0]), (y, columns.origin[1])))
            rows, cols = (np.clip(k.astype(int), 0, n - 1) for k, n in zip((j, i), columns.ground.shape, strict=True))
            self._ground = columns.ground[np.ix_(rows, cols)]
        moved = {name: thing.mesh.moved(np.asarray(thing.path(t))) for name, thing in world.things.items()}
        meshes = dict(world.static) | moved
        self._names = list(meshes)
        self._stood_on, self._owner = self._surface(meshes, np.full((ny, nx), LOW_M))
        self._over = self._stood_on
        self._margins: tuple[tuple[float, float], ...] = _MARGINS_M
        if len(over):
            self._margins = (*_MARGINS_OVER_M, *_MARGINS_M)
            near = np.min([np.add.outer((y - q) ** 2, (x - p) ** 2) for p, q in over], axis=0) < _OVER_NEAR_M**2
            self._over = self._surface(meshes, np.where(near, _OVER_M, LOW_M))[0]
        # sums of cells that are not bare floor, to ask for any in a rectangle
        uneven = (self._stood_on != 0.0) | (self._over != 0.0) | (self._owner >= 0)
        self._uneven = np.pad(np.cumsum(np.cumsum(uneven, axis=0), axis=1), ((1, 0), (1, 0)))
        self.stood: set[str] = set()

    def foothold(self, place: Array, heading: float, fixed: bool = False, last: float = 0.0) -> Foothold:
        """Foothold at the place (2,) for an ankle that is wished for, or near it unless it is `fixed`.

        last: metres by which the step before was moved ahead.
        """
        if self._bare(place, _REACH_M).all():
            return Foothold(place, 0.0, 0.0)
        wished = self._heights(self._stood_on, place[None], np.array([heading]))[0]
        ramp = self._ramp(wished)
        if ramp is not None:
            return self._stood(place, heading, *ramp)
        carried = wished[_CARRIES].min()
        if wished.max() - carried < _UNEVEN_M:
            off = np.array([0.0, *self._margins[0]])[:, None]
            around = self.under(place + off * facing(heading), np.full(len(off), heading)).max()
            if around - carried < _UNEVEN_M:  # no other costs less
                return self._stood(place, heading, float(wished.max()))
        most = 1 if fixed else None if self._margins is not _MARGINS_M else _AHEAD_LEVEL
        tried = place + (_AHEAD_M[:most] * self._scale)[:, None] * facing(heading)
        facings = np.full(len(tried), heading)
        heights = self._heights(self._stood_on, tried, facings)
        carried = heights[:, _CARRIES].min(axis=1)
        even = heights.max(axis=1) - carried < _UNEVEN_M
        ahead = _AHEAD_M[:most]
        cost = np.full(len(tried), np.inf)
        less = 0.0
        for margins in self._margins:
            around = np.max([self.under(tried + off * facing(heading), facings) for off in (0.0, *margins)], axis=0)
            good = even & (around - carried < _UNEVEN_M)
            cost = np.minimum(cost, np.where(good, np.abs(ahead) + _UNLIKE_LAST * np.abs(ahead - last) + less, np.inf))
            less += _LESS_OVER_M if margins in _MARGINS_OVER_M else _LESS_MARGIN_M
        k = int(np.argmin(cost))  # the place that is wished for where none is good
        return self._stood(tried[k], heading, float(heights[k].max()))

    def _ramp(self, heights: Array) -> tuple[float, float] | None:
        """Height under the ankle and slope of an even ramp under a foot, heights (K,); else None."""
        if np.ptp(heights) < _UNEVEN_M:
            return None
        along = np.column_stack([np.ones(len(_FOOT_M)), self._scale * _FOOT_M[:, 0]])
        line = np.linalg.lstsq(along, heights, rcond=None)[0]
        off = heights - along @ line
        if np.abs(off).max() > _BUMPY_M or abs(line[1]) > _STEEPEST:
            return None
        return float(line[0] + off.max()), float(np.arctan(line[1]))

    def _stood(self, place: Array, heading: float, high: float, slope: float = 0.0) -> Foothold:
        """Foothold at a height, registered with its support."""
        owners = self._heights(self._owner, place[None], np.array([heading]))[0]
        self.stood |= {self._names[k] for k in owners if k >= 0}
        return Foothold(place, high + _ABOVE_M if high > 0.0 else 0.0, slope)

    def under(self, ankles: Array, heading: Array, slope: Array | float = 0.0) -> Array:
        """Height (N,) of feet on their ground with ankles over places (N, 2), metres; slope (N,): toes up, radians."""
        if not np.any(slope) and self._bare(ankles, _SOLE_M).all():
            return np.zeros(len(ankles))
        tilted = np.outer(np.tan(slope) * np.ones(len(ankles)), self._scale * _FOOT_M[:, 0])
        return np.asarray((self._heights(self._over, ankles, heading) - tilted).max(axis=1))

    def along(self, places: Array) -> Array:
        """Height of the ground (N,) at positions (N, 2), metres."""
        i, j = self._index(places)
        return np.asarray(self._over[j, i])

    def contacts(self, who: str, body: Character, during: tuple[float, float]) -> list[Contact]:
        """Contacts of a character's feet with their supports during an interval."""
        joints = {j for side in SIDES for j in body.subtree(body.role(f"{side}_foot"))}
        feet = dict.fromkeys(shape.name for shape in body.shapes if shape.joint in joints)
        return [
            Contact(f"{who}.{foot}", name, during, "support", _PRESS_M, "stands on it")
            for name in sorted(self.stood)
            for foot in feet
        ]

    def _surface(self, meshes: dict[str, Mesh], above: Array) -> tuple[Array, Array]:
        """Heights (ny, nx) above the floor of the highest surfaces up to `above` over the ground, and their owners."""
        heights = np.full(self._ground.shape, self._floor + 1e-4)
        owner = np.full(self._ground.shape, -1)
        below = self._floor + self._ground + above
        far = self._origin + _SPACING_M * np.array(self._ground.shape[::-1])
        for number, mesh in enumerate(meshes.values()):
            if not len(mesh.faces):
                continue
            low, high = mesh.bounds
            if low[2] > below.max() or (high[:2] < self._origin).any() or (low[:2] > far).any():
                continue
            corners = np.ascontiguousarray(mesh.vertices[mesh.faces], dtype=float)
            surface_heights(corners, self._origin[0], self._origin[1], _SPACING_M, below, heights, owner, number)
        heights[owner < 0] = self._floor
        return heights - self._floor, owner

    def _bare(self, points: Array, within: float) -> NDArray[np.bool_]:
        """Mask (...,) of points (..., 2) around which there is nothing but floor within so many metres, scaled."""
        i, j = self._index(points - self._scale * within - _SPACING_M)
        far_i, far_j = self._index(points + self._scale * within + _SPACING_M)
        sums = self._uneven
        inside = sums[far_j + 1, far_i + 1] - sums[j, far_i + 1] - sums[far_j + 1, i] + sums[j, i]
        return np.asarray(inside == 0)

    def _index(self, points: Array) -> tuple[Array, Array]:
        """Columns and rows (...) of the nearest grid points to some (..., 2)."""
        at = np.rint((points - self._origin) / _SPACING_M).astype(int)
        ny, nx = self._ground.shape
        return np.clip(at[..., 0], 0, nx - 1), np.clip(at[..., 1], 0, ny - 1)

    def _heights(self, surface: Array, ankles: Array, heading: Array) -> Array:
        """Heights (N, K) of a surface at the points of feet with ankles over positions (N, 2)."""
        along, across = (self._scale * part[:, None] for part in _FOOT_M.T)
        points = ankles[:, None] + along * facing(heading)[:, None] + across * leftwards(heading)[:, None]
        i, j = self._index(points)
        return np.asarray(surface[j, i])


def standing_at(
    world: World, who: str, character: Character, place: tuple[float, float], heading: float, fps: float
) -> World:
    """The world with another character, who stands at ease at a position for a moment, on what lies there.

    heading: radians counter-clockwise from -Y.
    """
    ground = Ground(world, 0.0, figure(character).scale, np.asarray(place)[None])
    clip = set_down(idle(character, _MOMENT_S, fps), place, heading)
    T = clip.world()[0]
    high = max(ground.foothold(T[character.role(f"{side}_foot"), :2, 3], heading, fixed=True).z for side in SIDES)
    floor = 0.0 if world.floor is None else world.floor
    placed = world.with_character(who, set_down(clip, lift=floor + high))
    return placed.with_(contacts=(*world.contacts, *ground.contacts(who, character, (0.0, np.inf))))
