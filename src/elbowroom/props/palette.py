"""Colours of materials, linear RGB."""

from __future__ import annotations

from elbowroom.geometry.mesh import Color

OAK: Color = (0.47, 0.29, 0.15)
WALNUT: Color = (0.20, 0.105, 0.05)
BIRCH: Color = (0.68, 0.52, 0.34)
PINE: Color = (0.62, 0.42, 0.22)
LINEN: Color = (0.55, 0.58, 0.60)
MOSS: Color = (0.12, 0.27, 0.13)
LEAF: Color = (0.10, 0.30, 0.08)
CLAY: Color = (0.52, 0.20, 0.11)
PAPER: Color = (0.85, 0.82, 0.74)
PAGES: Color = (0.80, 0.75, 0.62)
WHITE: Color = (0.80, 0.80, 0.78)
PLASTER: Color = (0.72, 0.71, 0.68)
STEEL: Color = (0.42, 0.43, 0.45)
BRASS: Color = (0.55, 0.40, 0.14)
IRON: Color = (0.06, 0.06, 0.07)
STONE: Color = (0.33, 0.34, 0.35)
SLATE: Color = (0.14, 0.17, 0.20)
GLASS: Color = (0.42, 0.55, 0.53)
CREAM: Color = (0.78, 0.70, 0.52)

# Bindings of books, as a shelf at home has them.
CLOTHS: tuple[Color, ...] = (
    (0.34, 0.06, 0.05),
    (0.05, 0.12, 0.26),
    (0.07, 0.20, 0.12),
    (0.60, 0.50, 0.33),
    (0.18, 0.09, 0.05),
    (0.55, 0.24, 0.06),
    (0.10, 0.10, 0.11),
    (0.30, 0.34, 0.38),
    (0.24, 0.05, 0.16),
    (0.66, 0.62, 0.55),
)
