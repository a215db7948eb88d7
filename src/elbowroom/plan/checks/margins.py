"""The ladder of clearances that planned motion keeps: the widest that both ends of a motion have."""

from __future__ import annotations

# Metres of a limb's path: what is sampled every 5 mm may come nearer in between, and later edits need room.
USUAL_M = 0.005
# Where an end has less than that: fingers beside what they take, thighs of broad bodies, a limb between two things.
TIGHT_M = 0.0015
# Of postures of a whole body between those that were planned with more: what is nearer may meet between frames.
BETWEEN_M = 0.001
# Of steps in which a whole body follows an object, 3 cm apart, the wider first; the narrower is that of postures at
# both ends, too, and less is left beside what an object is lifted off.
STEPS_M = (0.012, 0.004)
LIFTED_M = 0.003


def ladder(most_m: float = USUAL_M) -> tuple[float, ...]:
    """Clearances to try in turn, metres: none at last, for ends that touch what they work at."""
    return tuple(dict.fromkeys((most_m, min(TIGHT_M, most_m), 0.0)))
