"""Lights of the scene: soft ones from all around, and a lamp above the action whose shadows show where things touch.

viser's own lights cast shadows only within 20 m of the camera; houses and two motions side by side are seen from
farther away, so these lights are off.
"""

from __future__ import annotations

import numpy as np
import viser

from elbowroom.geometry.rotations import Array

_DARK_BACKGROUND = (78, 81, 85)
# From the action to the lamp, and to the light from the same side that casts no shadows.
_TOWARDS_LAMP = np.array([-0.25, -0.35, 1.0]) / np.linalg.norm([-0.25, -0.35, 1.0])
# Distance of the lamp in radii of the action, and at least, metres.
_FAR, _NEAREST_M = 4.0, 10.0
# Share of the radius that is lit beyond it: the rim of the cone is dim.
_BEYOND = 1.5
# Intensities in light and dark mode; the lamp's is that of what lies in its shadow.
_SKY, _FILL, _SIDE, _LAMP = (2.4, 3.8), (0.9, 1.6), (1.6, 1.4), (1.8, 1.6)


class Lights:
    """Lights of one page; without `shadows` the lamp casts none."""

    def __init__(self, server: viser.ViserServer, *, shadows: bool = True) -> None:
        self._scene, self._shadows = server.scene, shadows
        self._dark, self._middle, self._radius = False, np.zeros(3), 3.0
        server.scene.set_up_direction("+z")
        server.scene.configure_environment_map(None)  # viser's own washes colours out
        server.scene.configure_default_lights(enabled=False)
        self.set_dark(False)

    def set_dark(self, dark: bool) -> None:
        """Light or dark: there the background is grey as in other programs, and lights are stronger, so that dark
        objects stand out."""
        self._dark = dark
        self._scene.add_light_hemisphere("/light/sky", ground_color=(178, 170, 162), intensity=_SKY[dark])
        self._scene.add_light_directional("/light/fill", intensity=_FILL[dark], position=(-3.0, -4.0, 5.0))
        self._scene.add_light_directional("/light/side", intensity=_SIDE[dark], position=tuple(_TOWARDS_LAMP))
        self._scene.set_background_image(np.full((2, 2, 3), _DARK_BACKGROUND, np.uint8) if dark else None)
        self.aim(self._middle, self._radius)

    def aim(self, middle: Array, radius: float) -> None:
        """Light an action around `middle` (3,) within a radius, metres."""
        self._middle, self._radius = middle, radius
        far = max(_FAR * radius, _NEAREST_M)
        self._scene.add_light_spot(
            "/light/lamp",
            position=tuple(middle + far * _TOWARDS_LAMP),
            direction=tuple(-_TOWARDS_LAMP),
            angle=float(np.arctan(_BEYOND * radius / far)),
            penumbra=0.5,
            decay=0.0,
            intensity=_LAMP[self._dark],
            cast_shadow=self._shadows,
        )
