"""Contacts of the gallery: what people mean to touch, they touch lightly."""

from elbowroom.plan.state.result import Plan

# The deepest overlap of an intended contact, metres.
LIGHTLY = 0.003


def deep_contacts(plan: Plan) -> list[str]:
    """Sentences on all that a certificate had to allow beyond light touches."""
    assert plan.certificate is not None
    return [
        f"{a.pair.a} in {a.pair.b} by {1000 * a.depth_m:.1f} mm ({a.why}) from {a.during[0]:.2f} to {a.during[1]:.2f} s"
        for a in plan.certificate.allowed
        if a.depth_m > LIGHTLY
    ]
