"""Rendering of a world at any time, without a display; one renderer serves all frames of a film."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

import moderngl
import numpy as np
from numpy.typing import NDArray

from elbowroom.character.visual import Show, shapes_skin, visible
from elbowroom.errors import BadValue, MissingExtra
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.pictures.direction import FAR, Camera, View, ViewChoice
from elbowroom.pictures.surfaces import TEXTURE_UNIT, Cloud, GpuSurface, PosedBody, mesh_surface
from elbowroom.world.extent import FURNITURE, action, box_corners, joint_transforms
from elbowroom.world.world import World

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


_LINUX = "Debian, Ubuntu: apt install libegl1 libgl1 libgl1-mesa-dri; Fedora: dnf install mesa-dri-drivers"
_OTHER = "an OpenGL 3.3 driver for this machine"


def drawing_context() -> moderngl.Context:
    """New OpenGL 3.3 context: on Linux through EGL, which needs no display, else the system's default."""
    on_linux = sys.platform.startswith("linux")
    try:
        if on_linux:
            return moderngl.create_context(standalone=True, backend="egl", require=330)  # type: ignore[arg-type]
        return moderngl.create_context(standalone=True, require=330)
    except Exception as error:  # glcontext raises bare Exception for a missing library or driver
        cause = " ".join(str(error).split())
        raise MissingExtra(f"drawing without a screen ({cause})", _LINUX if on_linux else _OTHER) from None


Pixels = NDArray[np.uint8]  # (H, W, 3)

# Geometry higher than this above the floor (and above the action) casts no shadow: rooms may have ceilings.
_HEADROOM = 2.4

_SHAPES_OVER_SKIN = 0.38  # opacity
_NO_CURTAIN = (0.0, 0.0, 0.0, 1.0)
_THRESHOLD = 0.12  # metres above the floor up to which nothing is cut away


class Renderer:
    """Renderer of a world, uploaded once, and a camera; `draw(t)` returns the picture at a time."""

    def __init__(
        self,
        world: World,
        *,
        size: tuple[int, int] = (960, 640),
        camera: Camera | None = None,
        show: Show = "skin",
        shapes_over: bool = False,
        clouds: Sequence[Cloud] = (),
        span: tuple[float, float] | None = None,
        far: float = FAR,
    ) -> None:
        """`size` is width and height in pixels; `span` the seconds that the camera has to hold, else all.

        A single character that travels further than `far` metres is followed, unless the camera sets otherwise.
        `shapes_over` draws the collision shapes translucently over the mode `show`.
        """
        if min(size) < 8 or max(size) > 8192:
            raise BadValue(f"a picture must be 8 to 8192 pixels wide and high, not {size[0]}×{size[1]}.")
        self.world, self.size = world, size
        self.direction = ViewChoice(world, camera or Camera(), size[0] / size[1], clouds, span, far)
        self._clouds = clouds
        self._context = context = drawing_context()
        self._programs = {
            "scene": _program(context, "scene", "scene"),
            "depth": _program(context, "depth", "depth"),
        }
        self._programs["scene"]["picture"] = TEXTURE_UNIT
        self._ground = _quad(context, _program(context, "ground", "ground"))
        self._background = _quad(context, _program(context, "background", "background"))
        self._lights = Lights(context)
        large = [m for m in world.static.values() if np.linalg.norm(np.ptp(m.bounds, axis=0)) >= FURNITURE]
        self._moves = bool(world.characters or world.things or clouds)
        self._walls = mesh_surface(self._programs, large)
        self._static = mesh_surface(self._programs, [m for m in world.static.values() if m not in large])
        self._objects = {name: mesh_surface(self._programs, [o.mesh]) for name, o in world.things.items()}
        self._figures = {name: PosedBody(self._programs, visible(world.body(name), show)) for name in world.characters}
        self._shapes = {
            name: PosedBody(self._programs, shapes_skin(world.body(name)))
            for name in world.characters
            if shapes_over and world.body(name).shapes
        }
        samples = min(4, context.max_samples)
        self._canvas = context.framebuffer(
            context.renderbuffer(size, 4, samples=samples), context.depth_renderbuffer(size, samples=samples)
        )
        self._resolved = context.framebuffer(context.renderbuffer(size, 4))

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the context and everything in it back."""
        self._context.release()

    def draw(self, t: float, *, ghosts: Iterable[tuple[float, float]] = (), view: View | None = None) -> Pixels:
        """The picture at time `t` in seconds; `ghosts` are further times with their opacity in 0..1."""
        with self._context:  # another renderer may have drawn in between
            return self._draw(t, list(ghosts), view or self.direction.view(t))

    def _draw(self, t: float, ghosts: list[tuple[float, float]], view: View) -> Pixels:
        solid: list[tuple[GpuSurface, Array]] = []
        faint: list[tuple[float, list[tuple[GpuSurface, Array]]]] = []
        seen = [cloud.at(t) for cloud in self._clouds]
        points = [action(self.world, t), *[points[np.isfinite(points).all(axis=-1)] for points in seen]]
        for k, (time, opacity) in enumerate([(t, 1.0), *ghosts]):
            exposed = self._exposed(time, k)
            if opacity >= 1.0:
                solid += exposed
                points.append(action(self.world, time))
            else:
                faint.append((opacity, exposed))
        if self._shapes:
            faint.append((_SHAPES_OVER_SKIN, self._posed(self._shapes, t, 0)))
        passing = [mesh_surface(self._programs, [cloud.mesh(t)]) for cloud in self._clouds]
        solid += [(surface, np.eye(4)) for surface in passing if surface is not None]
        if self._static is not None:
            solid.append((self._static, np.eye(4)))
        # plane at which large static meshes are cut open to show the action; none if nothing moves
        normal, reach = self.direction.curtain(t) if self._moves else (np.zeros(3), 1.0)
        self._cut = (*(float(x) for x in normal), reach)
        foot = (self.world.floor or 0.0) + _THRESHOLD
        self._programs["depth"]["curtain_foot"] = foot
        self._light(np.concatenate(points), solid, view)
        self._paint(view, solid, faint, np.concatenate(points))
        for surface in passing:
            if surface is not None:
                surface.release()
        self._context.copy_framebuffer(self._resolved, self._canvas)
        width, height = self.size
        data = np.frombuffer(self._resolved.read(components=3, alignment=1), dtype=np.uint8)
        return np.ascontiguousarray(data.reshape(height, width, 3)[::-1])

    def _exposed(self, t: float, exposure: int) -> list[tuple[GpuSurface, Array]]:
        """Bodies and objects at a time."""
        out = self._posed(self._figures, t, exposure)
        for name, surface in self._objects.items():
            if surface is not None:
                out.append((surface, np.asarray(self.world.things[name].path(t), dtype=float)))
        return out

    def _posed(self, figures: dict[str, PosedBody], t: float, exposure: int) -> list[tuple[GpuSurface, Array]]:
        return [
            (figure.posed(joint_transforms(self.world.characters[name], t)[0], exposure), np.eye(4))
            for name, figure in figures.items()
        ]

    def _light(self, points: Array, solid: list[tuple[GpuSurface, Array]], view: View) -> None:
        """Depth maps of the key light and the sky."""
        near = [points]
        center = points.mean(axis=0)
        for mesh in self.world.static.values():
            corners = box_corners(mesh.bounds)
            near.append(np.clip(corners, center - 4.0, center + 4.0) if self._moves else corners)
        right, _, back = view.axes
        level = np.array([back[0], back[1], 0.0]) if abs(back[2]) < 0.98 else view.axes[1] * -1.0
        level = level / np.linalg.norm(level)
        self._lights.aim(np.concatenate(near), 0.55 * level - 0.55 * right + np.array([0.0, 0.0, 1.15]))
        program = self._programs["depth"]
        top = max(float(points[:, 2].max()) + 0.1, (self.world.floor or 0.0) + _HEADROOM)
        program["ceiling"] = top
        self._context.enable_only(moderngl.DEPTH_TEST)
        for light in (self._lights.key, self._lights.sky):
            light.target.use()
            light.target.clear()
            program["clip_from_world"] = gl(light.clip_from_world)
            self._draw_all(solid, "depth")
            self._draw_walls("depth")

    def _paint(
        self,
        view: View,
        solid: list[tuple[GpuSurface, Array]],
        faint: list[tuple[float, list[tuple[GpuSurface, Array]]]],
        points: Array,
    ) -> None:
        """Background, ground, solid surfaces, then faint ones."""
        center, reach = 0.5 * (points.min(axis=0) + points.max(axis=0)), float(np.ptp(points, axis=0).max())
        distance = float(np.linalg.norm(center - view.eye))
        width, height = self.size
        far = 4.0 * distance + 60.0
        clip = view.projection(width / height, max(0.02 * distance, 0.02), far) @ view.matrix()
        depth, scene = self._programs["depth"], self._programs["scene"]
        depth["ceiling"] = np.inf
        for program in (depth, scene):
            program["clip_from_world"] = gl(clip)
        self._lights.apply(scene)
        scene["eye"] = tuple(view.eye)
        scene["alpha"] = 1.0
        self._canvas.use()
        self._canvas.clear()
        self._context.enable_only(moderngl.NOTHING)
        self._background.render(moderngl.TRIANGLE_STRIP)
        self._context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        # Depth first, then colour where it is equal: each pixel is lit once, and faint bodies do not add up.
        self._only("depth")
        self._draw_all(solid, "depth")
        self._draw_walls("depth")
        self._only("color")
        self._draw_all(solid, "scene")
        self._draw_walls("scene")
        self._only("both")
        self._paint_ground(view, clip, center, max(5.0, 1.2 * distance, 1.5 * reach))
        for opacity, surfaces in faint:
            self._only("depth")
            self._draw_all(surfaces, "depth")
            self._only("color")
            scene["alpha"] = opacity
            self._draw_all(surfaces, "scene")
        self._only("both")

    def _paint_ground(self, view: View, clip: Array, center: Array, radius: float) -> None:
        floor = self.world.floor
        if floor is None or view.eye[2] <= floor:
            return
        ground = self._ground.program
        self._lights.apply(ground)
        ground["clip_from_world"] = gl(clip)
        ground["center"] = (center[0], center[1], floor - 0.002)
        ground["radius"] = radius
        self._ground.render(moderngl.TRIANGLE_STRIP)

    def _only(self, what: Literal["depth", "color", "both"]) -> None:
        """Part of the canvas that is written to; depth is always tested."""
        self._canvas.color_mask = (what != "depth",) * 4
        self._canvas.depth_mask = what != "color"
        self._context.depth_func = "==" if what == "color" else "<"
        self._canvas.use()

    def _draw_all(self, surfaces: list[tuple[GpuSurface, Array]], name: str) -> None:
        program = self._programs[name]
        if name == "depth":
            program["curtain"] = _NO_CURTAIN
        for surface, model in surfaces:
            program["model"] = gl(model)
            surface.draw(name)

    def _draw_walls(self, name: str) -> None:
        if self._walls is not None:
            program = self._programs[name]
            if name == "depth":
                program["curtain"] = self._cut
            program["model"] = gl(np.eye(4))
            self._walls.draw(name)


def _program(context: moderngl.Context, vertex: str, fragment: str) -> moderngl.Program:
    here = files("elbowroom.pictures")
    light = (here / "light.glsl").read_text(encoding="utf-8")
    sources = [(here / f"{vertex}.vert.glsl"), (here / f"{fragment}.frag.glsl")]
    texts = [s.read_text(encoding="utf-8").replace("#include light", light) for s in sources]
    return context.program(vertex_shader=texts[0], fragment_shader=texts[1])


def _quad(context: moderngl.Context, program: moderngl.Program) -> moderngl.VertexArray:
    corners = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], dtype=np.float32)
    return context.vertex_array(program, [(context.buffer(corners.tobytes()), "2f", "in_position")])
