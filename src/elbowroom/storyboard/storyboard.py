"""Storyboards: a whole world in a page of YAML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from elbowroom.character.body import Character
from elbowroom.character.hands import grip_frame
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.open import on_floor
from elbowroom.geometry.transforms import inverse
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.motion.clip import Clip, Motion, frames_in
from elbowroom.plan.checks.places import worn_place
from elbowroom.plan.state.edit import EditChange
from elbowroom.plan.tasks import Task
from elbowroom.plan.tight.recordings import checked_recording
from elbowroom.posing.upright import carried_upright
from elbowroom.spaces.styles import StyleLike
from elbowroom.storyboard import things
from elbowroom.storyboard.cast import ClipSource
from elbowroom.storyboard.model import HoldPart, StoryboardFile
from elbowroom.storyboard.people import CharacterBuild, held_from_start, library_named, recording_named
from elbowroom.storyboard.tasks import tasks_of
from elbowroom.storyboard.values import style_from
from elbowroom.storyboard.yaml_lines import Location, YamlDocument, parse_yaml, read_yaml
from elbowroom.world.contacts import Caps, Contact
from elbowroom.world.things import FOREVER, Fixture
from elbowroom.world.world import World

# Error texts by pydantic's error type.
_TEXTS = {
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "list_type": "must be a list, [...]",
    "dict_type": "must have keys",
    "model_type": "must have keys",
    "model_attributes_type": "must have keys",
    "finite_number": "must be a finite number",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be a name without '.', '/' and control characters",
}
_GIVE_PLACE = "give it a smaller part, a position ('at'), or its position in the hand ('grip')"
_FIRST_LINE = "it must begin with the line 'elbowroom: 1', the version of the format"


def checked(document: YamlDocument) -> StoryboardFile:
    """Validated storyboard of a document; raises `BadFile` for the first fault in the file."""
    if not isinstance(document.values, dict):
        raise BadFile(document.path, "is not a storyboard", would_do=_FIRST_LINE)
    try:
        return StoryboardFile.model_validate(document.values)
    except ValidationError as error:
        found = [(e["type"] == "missing", _fault(document, e)) for e in error.errors(include_url=False)]
    # a key with a typo explains the one that is missing beside it
    _, (location, what, would_do) = min(found, key=lambda f: (document.line(f[1][0]), f[0], len(f[1][0])))
    raise document.error(location, what, would_do)


def _fault(document: YamlDocument, error: Any) -> tuple[Location, str, str]:
    kind, context = error["type"], error.get("ctx", {})
    steps = (*error["loc"], *context.get("at", ()))
    location, value, rest = _walked(document.values, steps)
    if kind == "storyboard":
        what, _, would_do = context["what"].partition("; ")
        return location, what, would_do
    if kind == "missing":
        return location, f"has no '{error['loc'][-1]}'", _FIRST_LINE if steps == ("elbowroom",) else "add it"
    if kind == "extra_forbidden":
        # keys allowed at a location, found along the fields of the models
        models: list[type[BaseModel]] = [StoryboardFile]
        for step in tuple(error["loc"][:-1]):
            found = [m.model_fields[step].annotation for m in models if step in m.model_fields]
            models = [part for a in found for part in _models_in(a)] or models
        known = list(dict.fromkeys(name for m in models for name in m.model_fields))
        name = str(location[-1])
        close = get_close_matches(name, known, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        what = "is not a verb" if len(location) == 3 and location[0] == "tasks" else "is not a key of this part"
        return location, what, f"{hint}available: {', '.join(known)}" if known else ""
    shown = _shown(value)
    if kind == "literal_error":
        return location, f"must be {context['expected']}, not {shown}", ""
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return location, f"cannot be {shown}", f"it takes {_forms(context.get('expected_tags', ''))}"
    if kind in ("too_short", "too_long"):
        bound = context.get("min_length", context.get("max_length"))
        word = "at least" if kind == "too_short" else "at most"
        return location, f"must have {word} {bound} items, not {context['actual_length'] or len(value)}", ""
    text = _TEXTS.get(kind) or error["msg"].replace("Input should be", "must be")
    # pydantic marks an invalid key by an extra last step
    return location, f"{text}, not {shown}" if "[key]" not in rest else f"the key {text}", ""


def _walked(values: Any, steps: tuple[Any, ...]) -> tuple[Location, Any, list[Any]]:
    """Location that steps lead to, its value, and the steps that pydantic added."""
    location: list[str | int] = []
    rest: list[Any] = []
    for step in steps:
        inside = isinstance(step, int) and step < len(values) if isinstance(values, list) else False
        if inside or (isinstance(values, dict) and step in values):
            values = values[step]
            location.append(step)
        else:
            rest.append(step)
    return tuple(location), values, rest


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "keys"
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _forms(tags: str) -> str:
    names = {"'word'": "text", "'keys'": "keys", "'list'": "a list", "'number'": "a number"}
    return " or ".join(names.get(tag.strip(), tag.strip()) for tag in tags.split(","))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Models that occur anywhere inside a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for inner in getattr(annotation, "__args__", ()) for m in _models_in(inner)]


# Frames of built-in motion of all people together; each takes about 1.5 ms to make.
MOST_BUILT_IN_FRAMES = 100_000


@dataclass(frozen=True, eq=False)
class Storyboard:
    """World of a storyboard file, its output frame rate and its tasks.

    `stands` maps each static mesh by name to its entry in the scene. `style` is that of all tasks, `edits` are those to
    be weakened or muted, `gaits` is the clip library of walks, `capture` are recordings for whole-body motions.
    """

    path: Path
    world: World
    fps: float
    tasks: tuple[Task, ...] = ()
    about: str = ""
    tags: tuple[str, ...] = ()
    stands: Mapping[str, int] = field(default_factory=dict)
    style: StyleLike = None
    edits: tuple[EditChange, ...] = ()
    gaits: ClipLibrary | None = None
    capture: tuple[Clip, ...] = ()


def read_storyboard(path: str | Path) -> Storyboard:
    """Read a storyboard file (.yaml) and all files that it refers to; paths in it are relative to it.

    Raises `BadFile` with the line and key of the first fault.
    """
    return _built(read_yaml(Path(path)))


def parse_storyboard(text: str, path: str | Path = "storyboard.yaml") -> Storyboard:
    """Read a storyboard from text, as if from a file of that name."""
    return _built(parse_yaml(Path(path), text))


def about_storyboard(path: str | Path) -> tuple[str, tuple[str, ...]]:
    """Description and tags of a storyboard, without reading the files that it refers to."""
    file = checked(read_yaml(Path(path)))
    return file.about, tuple(file.tags)


def storyboard_schema() -> dict[str, Any]:
    """JSON schema of storyboards, for editors that complete and check YAML."""
    schema = StoryboardFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "elbowroom storyboard"}


def _built(document: YamlDocument) -> Storyboard:
    file = checked(document)
    builder = _WorldBuilder(document, file)
    world = builder.world()
    tasks = tasks_of(document, file, world)
    style = style_from(file.style)
    edits = []
    for k, part in enumerate(file.edits):
        which: int | str = part.reason if part.number is None else part.number  # type: ignore[assignment]
        edits.append(EditChange(which, part.strength, part.mute, f"line {document.line(('edits', k))}"))
    about = (file.about, tuple(file.tags))
    with document.blaming("library"):
        gaits = library_named(file.library, document.path.parent)
    capture = []
    for k, name in enumerate(file.capture):
        with document.blaming("capture", k):
            capture.append(checked_recording(recording_named(name, document.path.parent)))
    return Storyboard(
        document.path, world, file.fps, tasks, *about, builder.stands, style, tuple(edits), gaits, tuple(capture)
    )


class _WorldBuilder:
    """Builder of the world in steps: scene, objects, characters, holds, contacts."""

    def __init__(self, document: YamlDocument, file: StoryboardFile) -> None:
        self._document, self._file = document, file
        self._folder = document.path.parent
        self.stands: dict[str, int] = {}
        self._made: dict[float | None, tuple[dict[str, Motion], list[str]]] = {}

    def world(self) -> World:
        """The world of the storyboard."""
        world = self._scene().with_(caps=Caps(**self._file.allow.model_dump()))
        world = self._on_floor(world)
        world = self._fixtures(world)
        world = self._objects(world)
        world = self._characters(world)
        for name in world.characters:
            world = things.on_base(world, name)
        for name, part in self._file.objects.items():
            if part.on is not None:
                world = world.with_contact(Contact(name, part.on, world.span, "support", why="moves with it"))
        world = self._settled(self._holds(world))
        with self._document.blaming("fps"):
            frames_in(world.span[1] - world.span[0], self._file.fps)
        return self._contacts(world).with_(notes=tuple(dict.fromkeys(world.notes)))

    def _scene(self) -> World:
        world = World()
        for k, source in enumerate(self._file.scene.meshes):
            with self._document.blaming("scene", "meshes", k):
                found, notes = things.static_of(source, self._folder)
                for name, mesh in found.items():
                    free, number = name, 2
                    while free in world.static:
                        free, number = f"{name}_{number}", number + 1
                    world = world.with_static(free, mesh)
                    self.stands[free] = k
                world = world.with_(notes=(*world.notes, *notes))
        return world

    def _on_floor(self, world: World) -> World:
        """Scene with its floor, which is detected under the feet of all characters if not given."""
        floor = self._file.scene.floor
        people = self._motions(0.0)[0] if floor == "auto" and world.static else {}
        with self._document.blaming("scene", "floor"):
            return on_floor(world.with_(characters=people), None if floor == "none" else floor).with_(characters={})

    def _fixtures(self, world: World) -> World:
        for name, part in self._file.fixtures.items():
            with self._document.blaming("fixtures", name, "mesh"):
                mesh, notes = things.mesh_of(part.mesh, self._folder)
            with self._document.blaming("fixtures", name):
                T_place = things.place_of(part, self._file.scene.meshes)
                fixture = things.fixture_of(part, mesh, T_place)
                world = world.with_fixture(name, fixture).with_(notes=(*world.notes, *notes))
        return world

    def _objects(self, world: World) -> World:
        fixtures = {name: thing for name, thing in world.objects.items() if isinstance(thing, Fixture)}
        for name, part in self._file.objects.items():
            with self._document.blaming("objects", name, "mesh"):
                mesh, notes = things.mesh_of(part.mesh, self._folder)
            with self._document.blaming("objects", name, "on"):
                path = things.path_of(part, fixtures)
            with self._document.blaming("objects", name):
                if name in fixtures:
                    raise BadValue("is already the name of a fixture")
                grasps = {key: things.mark(g) for key, g in part.grasps.items()}
                world = world.with_object(
                    name, mesh, path, mass=part.mass, frames=things.frames_of(part), freedom=part.freedom, grasps=grasps
                )
                world = world.with_(notes=(*world.notes, *notes))
        return world

    def _settled(self, world: World) -> World:
        """World in which objects and buttons stand on what they were placed a little inside; doors move freely."""
        taken = {getattr(t.arguments, "object", "") for t in self._file.tasks} - {h.object for h in self._file.holds}
        lying = [name for name, part in self._file.objects.items() if part.path is None and part.on is None]
        moved = [(t.arguments.task, t.arguments.fixture) for t in self._file.tasks if hasattr(t.arguments, "fixture")]
        pressed = [name for kind, name in moved if kind.meets_surface]
        opened = [name for kind, name in moved if not kind.meets_surface]
        return things.hung(things.settled(world, [name for name in lying if name in taken], pressed), opened)

    def _characters(self, world: World) -> World:
        motions, notes = self._motions(world.floor)
        for name, motion in motions.items():
            with self._document.blaming("characters", name):
                world = world.with_character(name, motion)
        return world.with_(notes=(*world.notes, *notes))

    def _motions(self, floor: float | None) -> tuple[dict[str, Motion], list[str]]:
        """Motions of all characters on a floor of that height, metres, with notes; cached by height."""
        if floor not in self._made:
            with self._document.blaming("characters"):
                # reject built-in motion that would take more than a few minutes to generate
                clips = [part.clip for part in self._file.characters.values()]
                frames = self._file.fps * sum(clip.seconds for clip in clips if isinstance(clip, ClipSource))
                if frames > MOST_BUILT_IN_FRAMES:
                    raise BadValue(
                        f"built-in motions have {frames:,.0f} frames in all, more than {MOST_BUILT_IN_FRAMES:,}; "
                        "use fewer characters, shorter motions or a lower fps"
                    )
            motions: dict[str, Motion] = {}
            notes: list[str] = []
            for name, part in self._file.characters.items():
                person = CharacterBuild(name, part, self._folder, self._file.fps)
                with self._document.blaming("characters", name, "body"):
                    body = person.body()
                with self._document.blaming("characters", name, "clip"):
                    motions[name] = person.motion(body, floor)
                notes += person.notes
            self._made[floor] = motions, notes
        return self._made[floor]

    def _holds(self, world: World) -> World:
        for k, part in enumerate(self._file.holds):
            with self._document.blaming("holds", k, "by"):
                span = world.motion(part.by).span
            with self._document.blaming("holds", k):
                during = self._during(part.during, (span[0], FOREVER))
                if part.carry is not None:
                    world = _carried(world, part.by, part.hand)
                world.with_hold(part.object, part.by, part.hand, during)  # reports other faults of the entry first
                before = world.motion(part.by)
                world, T = self._gripped(world, part, during)
                closed = isinstance(before, Clip) and world.motion(part.by) is not before
                at_ease = before.rotations if isinstance(before, Clip) and closed else None
                hold = part.object, part.by, part.hand, during, T
                world = world.with_hold(*hold, leads=part.leads, at_ease=at_ease)
        return world

    def _gripped(self, world: World, part: HoldPart, during: tuple[float, float]) -> tuple[World, Any]:
        """World with fingers closed on an object without a position; its `T_hand_object`, None if it has a position."""
        if part.grip is not None:
            return world, things.frame(part.grip)
        entry = self._file.objects.get(part.object)
        first = not any(h.object == part.object for h in world.holds)
        if entry is None or entry.placed or not first:
            return world, None
        body, thing = world.body(part.by), world.objects[part.object]
        if not isinstance(body, Character):
            T_hand_grip = grip_frame(body, part.hand)
            return world, T_hand_grip @ inverse(thing.frames.get("grip", np.eye(4)))
        if part.hand not in ("left", "right"):
            return world, worn_place(body, part.hand, thing, part.object)
        released = any(getattr(t.arguments, "object", "") == part.object for t in self._file.tasks)
        held = held_from_start(world.motion(part.by), part.hand, thing, during, released=released)
        if held is None:
            raise BadValue(f"the {part.hand} hand of '{part.by}' cannot close on '{part.object}'; {_GIVE_PLACE}")
        return world.with_character(part.by, held[0]), held[1]

    def _contacts(self, world: World) -> World:
        for k, part in enumerate(self._file.contacts):
            for key in ("who", "on"):
                with self._document.blaming("contacts", k, key):
                    world.check_part(getattr(part, key))
            with self._document.blaming("contacts", k):
                during = self._during(part.during, world.span)
                world = world.with_contact(Contact(part.who, part.on, during, part.kind, part.depth))
        return world

    @staticmethod
    def _during(given: list[Any] | None, span: tuple[float, float]) -> tuple[float, float]:
        words = {"start": span[0], "end": span[1]}
        begin, end = (words.get(m, m) for m in given or ("start", "end"))
        return float(begin), float(end)


def _carried(world: World, who: str, hand: str) -> World:
    """World in which the arm of a character carries an object upright."""
    clip = world.motion(who)
    if not isinstance(clip, Clip):
        raise BadValue(f"'{who}' has no clip; only a person with a clip can carry something upright")
    return world.with_character(who, carried_upright(clip, hand))
