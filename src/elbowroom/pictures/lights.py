"""The two lights of a picture, a key light with shadows and the sky, each with a depth map of its own."""

from __future__ import annotations

from dataclasses import dataclass

import moderngl
import numpy as np

from elbowroom.geometry.rotations import Array, normalize

_WINDOW = 24.0  # metres around the action that get shadows at most
_DEPTH = 40.0  # metres before and behind the action along each light
_SKY_REACH = 0.5
_BLUR = 0.03

# Clip space (-1..1) to texture space (0..1)
_TO_TEXTURE = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])


@dataclass(eq=False)
class DepthMap:
    """Depth of the nearest surfaces along one direction."""

    texture: moderngl.Texture
    target: moderngl.Framebuffer
    axes: Array  # (3, 3): right, up, towards the light
    clip_from_world: Array  # (4, 4)

    def aim(self, center: Array, radius: float) -> None:
        """Cover a ball around `center`; the grid of texels stays put in the world, so edges do not crawl."""
        texel = 2.0 * radius / self.texture.width
        local = self.axes @ center
        local[:2] = np.round(local[:2] / texel) * texel
        scale = np.array([1.0 / radius, 1.0 / radius, -1.0 / _DEPTH])
        T = np.eye(4)
        T[:3, :3] = scale[:, None] * self.axes
        T[:3, 3] = -scale * local
        self.clip_from_world = T

    @property
    def texture_from_world(self) -> Array:
        """World to texture coordinates and depth, (4, 4)."""
        return _TO_TEXTURE @ self.clip_from_world


class Lights:
    """Key light and sky over one window of the world."""

    def __init__(self, context: moderngl.Context) -> None:
        self.direction = np.array([0.0, 0.0, 1.0])
        self.radius = _WINDOW
        self.key = _depth_map(context, 2048)
        self.key.texture.compare_func = "<="
        self.key.texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        self.sky = _depth_map(context, 512)
        self.sky.texture.compare_func = ""
        self.sky.texture.filter = (moderngl.NEAREST, moderngl.NEAREST)

    def aim(self, points: Array, towards: Array) -> None:
        """Light the surroundings of `points` (N, 3) from the direction `towards` (3,)."""
        low, high = points.min(axis=0), points.max(axis=0)
        center = 0.5 * (low + high)
        # steps of a quarter metre, so that the window keeps its size while the action moves a little
        self.radius = float(np.clip(np.ceil(4 * (0.5 * np.linalg.norm(high - low) + 1.5)) / 4, 2.0, _WINDOW))
        self.direction = normalize(towards)
        right = normalize(np.cross([0.0, 0.0, 1.0], self.direction))
        self.key.axes = np.stack([right, np.cross(self.direction, right), self.direction])
        self.key.aim(center, self.radius)
        self.sky.aim(center, self.radius)

    def apply(self, program: moderngl.Program) -> None:
        """Hand everything to a program that includes `light.glsl`."""
        self.key.texture.use(0)
        self.sky.texture.use(1)
        values = {
            "key_map": 0,
            "sky_map": 1,
            "key_from_world": gl(self.key.texture_from_world),
            "sky_from_world": gl(self.sky.texture_from_world),
            "key_blur": max(2.0 / self.key.texture.width, 0.5 * _BLUR / self.radius),
            "sky_radius": 0.5 * _SKY_REACH / self.radius,
            "sky_depth": 2.0 * _DEPTH,
            "key_direction": tuple(self.direction),
        }
        for name, value in values.items():
            if name in program:
                program[name] = value


def gl(matrix: Array) -> tuple[float, ...]:
    """A matrix (4, 4) as the graphics side wants it, column by column."""
    return tuple(matrix.T.reshape(-1))


def _depth_map(context: moderngl.Context, size: int) -> DepthMap:
    texture = context.depth_texture((size, size))
    texture.repeat_x = texture.repeat_y = False
    return DepthMap(texture, context.framebuffer(depth_attachment=texture), np.eye(3), np.eye(4))
