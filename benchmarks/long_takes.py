"""Commands on a long take: processor time, memory, and the longest time for which a terminal shows nothing new.

The take is a recorded walk of CMU there and back again, 20,000 frames at 120 Hz; posts stand where a hand passes them.

    python benchmarks/long_takes.py DATA [--frames 20000] [--posts 1] [--drift 0] [--only repair …] [--keep FOLDER]

`--keep` writes the take, the posts and all results to a folder, so that commands can be repeated by hand.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from elbowroom.files.bvh import read_bvh
from elbowroom.files.save import save
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.world.world import World

CLIP = "mocap/cmu_bvh/07_01.bvh"
# Height and width of a post, metres, and how far its face is inside of the wrist's path.
POST, WIDTH, INSIDE = 1.4, 0.12, 0.03
COMMANDS = {
    "info": ["info", "take.bvh"],
    "convert": ["convert", "take.bvh", "take.glb"],
    "convert to HTML": ["convert", "take.bvh", "take.html"],
    "render": ["render", "take.bvh", "-o", "take.png", "--frames", "8"],
    "film": ["render", "take.bvh", "-o", "take.mp4"],
    "report": ["report", "take.bvh", "posts.ply", "-o", "report.html", "--scene-units", "1", "--scene-up", "Z"],
    "check": ["check", "take.bvh", "posts.ply", "--scene-units", "1", "--scene-up", "Z"],
    "repair": [
        "repair",
        "take.bvh",
        "posts.ply",
        "-o",
        "fixed.glb",
        "--scene-units",
        "1",
        "--scene-up",
        "Z",
    ],
    "repair --feet": ["repair", "take.bvh", "-o", "feet.bvh", "--feet"],
}
# Spinner, elapsed time and control characters of a progress line: they change without news.
_NO_NEWS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\d+:\d\d:\d\d|[⠀-⣿\r\n]")


def there_and_back(clip: Clip, frames: int, drift: float = 0.0) -> Clip:
    """A clip played forwards and backwards until it has so many frames; it moves to its left by `drift` metres."""
    once = np.arange(len(clip))
    order = np.resize(np.concatenate([once, once[-2:0:-1]]), frames)
    root = clip.root[order]
    root[:, :2] -= np.linspace(0.0, drift, frames)[:, None] * _aside(clip)
    return clip.with_(root=root, rotations=clip.rotations[order])


def _aside(clip: Clip) -> np.ndarray:
    """Direction (2,) to the right of the way that a clip goes."""
    way = clip.root[-1, :2] - clip.root[0, :2]
    return np.array([way[1], -way[0]]) / np.linalg.norm(way)


def posts(clip: Clip, count: int) -> Mesh:
    """Posts along the way of a clip, in the way of its right hand."""
    hand = clip.character.roles["right_hand"]
    at = np.linspace(0.25, 0.75, count) * (len(clip) - 1) / clip.fps
    path = clip.positions(np.arange(len(clip)) / clip.fps)
    aside = _aside(clip)
    parts = []
    for t in at:
        place = path[round(t * clip.fps), hand, :2] + (0.5 * WIDTH - INSIDE) * aside
        parts.append(box([WIDTH, WIDTH, POST]).moved(transform([*place, 0.5 * POST])))
    return merge(parts)


def run(words: list[str], folder: Path) -> tuple[int, float, float, float, float, str]:
    """Exit code, seconds of the processor, largest megabytes, seconds, longest silence and first line of a command."""
    terminal, end = pty.openpty()
    env = {**os.environ, "COLUMNS": "160", "TERM": "xterm"}
    begun = time.monotonic()
    script = f"import sys; from elbowroom.cli import main; sys.argv[1:] = {words!r}; main()"
    with (folder / "out.txt").open("w") as out:
        child = subprocess.Popen([sys.executable, "-c", script], cwd=folder, stdout=out, stderr=end, env=env)
    os.close(end)
    last, heard, silence = "", begun, 0.0
    while True:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                text = os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break  # it has ended
            news = [line for line in _NO_NEWS.sub("\n", text).split("\n") if line.strip()]
            if news and news[-1].strip() != last:
                now = time.monotonic()
                last, heard, silence = news[-1].strip(), now, max(silence, now - heard)
    _, status, used = os.wait4(child.pid, 0)
    os.close(terminal)
    now = time.monotonic()
    said = (folder / "out.txt").read_text().strip().splitlines()
    code = os.waitstatus_to_exitcode(status)
    return (
        code,
        used.ru_utime + used.ru_stime,
        used.ru_maxrss / 1024,
        now - begun,
        max(silence, now - heard),
        said[0] if said else last,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--frames", type=int, default=20000)
    parser.add_argument("--posts", type=int, default=1)
    parser.add_argument("--drift", type=float, default=0.0, help="metres to the left, away from the posts")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--keep", type=Path)
    told = parser.parse_args()
    clip = without_lead(read_bvh(told.data / CLIP)).with_(start=0.0)
    take = there_and_back(clip, told.frames, told.drift)
    with tempfile.TemporaryDirectory() as name:
        folder = told.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        save([folder / "take.bvh"], World().with_character("walker", take))
        mesh = posts(clip, told.posts)
        _write_ply(folder / "posts.ply", mesh.vertices, mesh.faces)
        size = (folder / "take.bvh").stat().st_size / 2**20
        print(f"{told.frames:,} frames at {take.fps:g} Hz, {size:.1f} MB, {told.posts} posts\n", flush=True)
        print("| command | exit | processor s | memory GB | wall s | longest silence s | |\n|" + "---|" * 7, flush=True)
        for what, words in COMMANDS.items():
            if told.only and what not in told.only:
                continue
            code, cpu, memory, wall, silence, said = run(words, folder)
            print(
                f"| `{what}` | {code} | {cpu:.1f} | {memory / 1024:.2f} | {wall:.0f} | {silence:.1f} | {said[:90]} |",
                flush=True,
            )


def _write_ply(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    head = ["ply", "format ascii 1.0", f"element vertex {len(vertices)}", *(f"property float {a}" for a in "xyz")]
    head += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header"]
    rows = [" ".join(f"{x:.6f}" for x in v) for v in vertices] + [f"3 {a} {b} {c}" for a, b, c in faces]
    path.write_text("\n".join([*head, *rows, ""]))


if __name__ == "__main__":
    main()
