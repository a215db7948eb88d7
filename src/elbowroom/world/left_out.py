"""Account of what a proof leaves out of a world's meshes, for evidence and messages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from elbowroom.geometry.solidity import Demoted
from elbowroom.world.exact_forms import mesh_surface
from elbowroom.world.ground import Dropped
from elbowroom.world.world import World


@dataclass(frozen=True)
class LeftOut:
    """Triangles dropped because the floor stands for them, and parts that count as surfaces without an inside."""

    dropped: tuple[Dropped, ...]
    demoted: tuple[Demoted, ...]

    @property
    def above_floor_m(self) -> float:
        """Metres above the floor up to which something was dropped; 0 where nothing was."""
        return max((d.above_floor_m for d in self.dropped), default=0.0)


def left_out(world: World) -> LeftOut:
    """Account for all static meshes and things of a world, in their order."""
    forms = {name: mesh_surface(mesh, name, world.floor) for name, mesh in world.static.items()}
    forms |= {name: mesh_surface(thing.mesh, name) for name, thing in world.objects.items()}
    # a mesh may stand under several names and keeps the account of the first
    return LeftOut(
        tuple(replace(form.dropped, name=name) for name, form in forms.items() if form.dropped is not None),
        tuple(replace(part, name=name) for name, form in forms.items() for part in form.demoted),
    )
