"""Distances between two positions in degrees: on the WGS 84 ellipsoid (Vincenty's inverse formula), and on a sphere."""

import math

EQUATORIAL, FLATTENING, MEAN = 6378137.0, 1 / 298.257223563, 6371008.8
POLAR = EQUATORIAL * (1 - FLATTENING)


def distance_on_sphere(first, second):
    (a, b), (c, d) = map(math.radians, first), map(math.radians, second)
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * MEAN * math.asin(min(1, math.sqrt(half)))


def distance_on_ellipsoid(first, second):
    """Metres to about 0.5 mm; None near the antipodes, where the formula doesn't converge."""
    u1, u2 = (math.atan((1 - FLATTENING) * math.tan(math.radians(point[0]))) for point in (first, second))
    difference = angle = math.radians(second[1] - first[1])
    for _ in range(100):
        sine = math.hypot(math.cos(u2) * math.sin(angle),
                          math.cos(u1) * math.sin(u2) - math.sin(u1) * math.cos(u2) * math.cos(angle))
        if sine == 0:
            return 0.0
        cosine = math.sin(u1) * math.sin(u2) + math.cos(u1) * math.cos(u2) * math.cos(angle)
        sigma = math.atan2(sine, cosine)
        alpha = math.cos(u1) * math.cos(u2) * math.sin(angle) / sine
        square = 1 - alpha * alpha
        middle = cosine - 2 * math.sin(u1) * math.sin(u2) / square if square else 0
        factor = FLATTENING / 16 * square * (4 + FLATTENING * (4 - 3 * square))
        before, angle = angle, difference + (1 - factor) * FLATTENING * alpha * (
            sigma + factor * sine * (middle + factor * cosine * (2 * middle * middle - 1)))
        if abs(angle - before) < 1e-13:
            return length(square, sigma, sine, cosine, middle)
    return None


def length(square, sigma, sine, cosine, middle):
    """The last step of the formula."""
    u = square * (EQUATORIAL**2 - POLAR**2) / POLAR**2
    a = 1 + u / 16384 * (4096 + u * (-768 + u * (320 - 175 * u)))
    b = u / 1024 * (256 + u * (-128 + u * (74 - 47 * u)))
    delta = b * sine * (middle + b / 4 * (
        cosine * (2 * middle**2 - 1) - b / 6 * middle * (4 * sine**2 - 3) * (4 * middle**2 - 3)))
    return POLAR * a * (sigma - delta)
