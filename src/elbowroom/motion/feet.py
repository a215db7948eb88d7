"""Clean-up of feet: no sliding in stance, soles on the floor, neither above nor below it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Contacts, steps
from elbowroom.motion.edit import without_lead
from elbowroom.motion.foot_tracks import bridged
from elbowroom.motion.legs import place_feet
from elbowroom.motion.retarget import hips_drop, plant_feet
from elbowroom.motion.retarget_pose import has_feet
from elbowroom.motion.soles import SIDES, soft_frames, softened, sole_points, soles, toes_above
from elbowroom.motion.stance import foot_slide, slide_ways, stance_contacts

# Passes at most in which the rest of sliding is taken away; stances are found anew before each, so the last need not
# be the best. Of 50 spoiled recordings one needed more than 16 (benchmarks/feet.py).
_PASSES = 24
# Sliding and distance from the floor at which no further pass is made, metres.
_GOOD_M = 0.003


@dataclass(frozen=True)
class FeetReport:
    """Feet of a clip before and after their clean-up, and the change to the pose.

    slide_m: farthest that a foot slides in one stance; floor_m: farthest that the lower end of a bearing foot is from
    the floor, or of any below it; moved_m: farthest that the hips were moved; turned_rad: largest change of a joint;
    mean_turned_rad: its mean over joints of the legs and frames.
    """

    slide_before_m: float
    slide_m: float
    floor_before_m: float
    floor_m: float
    moved_m: float
    turned_rad: float
    mean_turned_rad: float

    def facts(self) -> dict[str, float]:
        """Return the facts as JSON."""
        return {
            "slide_before_m": round(self.slide_before_m, 4),
            "slide_m": round(self.slide_m, 4),
            "floor_before_m": round(self.floor_before_m, 4),
            "floor_m": round(self.floor_m, 4),
            "hips_moved_m": round(self.moved_m, 4),
            "turned_deg": round(float(np.degrees(self.turned_rad)), 2),
            "mean_turned_deg": round(float(np.degrees(self.mean_turned_rad)), 2),
        }

    @property
    def text(self) -> str:
        """One sentence."""
        turned, mean = np.degrees([self.turned_rad, self.mean_turned_rad])
        return (
            f"feet: sliding {1000 * self.slide_before_m:.0f} to {1000 * self.slide_m:.1f} mm, off the floor "
            f"{1000 * self.floor_before_m:.0f} to {1000 * self.floor_m:.1f} mm; hips moved by up to "
            f"{1000 * self.moved_m:.0f} mm, joints turned by up to {turned:.1f}° ({mean:.1f}° on average)."
        )


def clean_feet(clip: Clip, floor: float) -> tuple[Clip, FeetReport]:
    """The clip with its feet on the floor, `floor` metres high, and still in stance; and the change to it."""
    if not has_feet(clip.character):
        raise BadValue(f"the feet of '{clip.character.name}' cannot be cleaned up: no legs were found.")
    contacts = replace(stance_contacts(clip), floor=floor)
    before = feet_measures(clip, contacts, floor)
    straight = plant_feet(clip, contacts, follow=True)  # toes as they are, from which those below the floor are bent
    cleaned = toes_above(straight, floor)
    toes = [sole.toes for sole in soles(clip.character) if sole.toes >= 0]
    best, after = cleaned, (np.inf, np.inf)
    for _ in range(_PASSES):
        contacts = replace(stance_contacts(cleaned), floor=floor)
        now = feet_measures(cleaned, contacts, floor)
        best, after = (cleaned, now) if max(now) < max(after) else (best, after)
        if max(after) < _GOOD_M:
            break
        settled = _settled(cleaned, contacts)
        q = np.array(settled.rotations)
        q[:, toes] = straight.rotations[:, toes]
        cleaned = toes_above(settled.with_(rotations=q), floor)
    cleaned = best
    moved = np.linalg.norm(cleaned.root - clip.root, axis=1).max()
    turned = rot.angle(rot.multiply(rot.conjugate(clip.rotations), cleaned.rotations))
    legs = [clip.character.role(f"{side}_{part}") for side in ("left", "right") for part in ("thigh", "shin", "foot")]
    report = FeetReport(
        before[0],
        after[0],
        before[1],
        after[1],
        float(moved),
        float(turned.max()),
        float(turned[:, legs].mean()),
    )
    return cleaned, report


def _settled(clip: Clip, contacts: Contacts) -> Clip:
    """The clip with the rest of the sliding, and of the distance from the floor, taken from its feet in stance.

    Pinning averages where stances begin and end; what is left there is taken away without averaging.
    """
    lead = clip.source.lead
    if lead:
        real = _settled(without_lead(clip), contacts.after(lead))
        root, q = np.array(clip.root), np.array(clip.rotations)
        root[lead:], q[lead:] = real.root, real.rotations
        return clip.with_(root=root, rotations=q)
    T, fps = clip.world(), clip.fps
    height = _lowest(clip, T) - contacts.floor
    taken = np.zeros((2, len(clip), 3))
    feet: dict[str, Array] = {}
    for step, way in zip(steps(contacts), slide_ways(clip, contacts), strict=True):
        foot, inside = SIDES.index(step.side), slice(step.first, step.last + 1)
        taken[foot, inside, :2] = way[len(way) // 2] - way
        taken[foot, inside, 2] = -height[inside, foot]
    for k, side in enumerate(SIDES):
        T_foot = T[:, clip.character.role(f"{side}_foot")].copy()
        on = contacts.foot(side)
        if on.any():
            T_foot[:, :3, 3] += bridged(taken[k], on, fps)
        moved = T_foot[:, 2, 3] - T[:, clip.character.role(f"{side}_foot"), 2, 3]
        ramp = scipy.ndimage.distance_transform_edt(~on) / (soft_frames(fps) + 1.0) if on.any() else np.ones(len(on))
        T_foot[:, 2, 3] += np.minimum(ramp, 1.0) * softened(
            np.where(on, 0.0, np.maximum(-(height[:, k] + moved), 0.0)), fps
        )
        feet[side] = T_foot
    root = np.array(clip.root)
    root[:, 2] -= hips_drop(clip.character, T, np.zeros((len(T), 3)), feet, fps)
    return clip.with_(root=root, rotations=place_feet(clip.character, root, clip.rotations, feet))


def feet_measures(clip: Clip, contacts: Contacts, floor: float) -> tuple[float, float]:
    """Farthest slide of a foot in one stance, and farthest distance of its lower end from the floor then, metres.

    Its lower end is that of heel, ball and tip of the toes; below the floor it counts at all times.
    """
    lead = clip.source.lead
    if lead:
        return feet_measures(without_lead(clip), contacts.after(lead), floor)
    slide = float(foot_slide(clip, contacts).max(initial=0.0))
    height = _lowest(clip, clip.world()) - floor
    on = contacts.on.reshape(-1, 2, 2).any(axis=-1)
    off = np.where(on, np.abs(height), np.maximum(-height, 0.0))
    return slide, float(off.max(initial=0.0))


def _lowest(clip: Clip, T: Array) -> Array:
    """Heights (N, 2) of the lowest of heel, ball and tip of the toes of both feet, joint transforms T (N, J, 4, 4)."""
    ends = sole_points(clip.character, T)[..., 2].reshape(-1, 2, 2).min(axis=-1)
    return np.minimum(ends, np.stack([sole.tips(T)[:, 2] for sole in soles(clip.character)], axis=1))
