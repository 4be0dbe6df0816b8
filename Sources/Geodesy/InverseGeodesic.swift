#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The shortest path between two points of the WGS 84 ellipsoid.
///
/// C. F. F. Karney, "Algorithms for geodesics", J. Geodesy 87, 43–55 (2013): on the auxiliary sphere with reduced latitudes,
/// the azimuth at the first point is found by Newton's method (section 4), which starts from the sphere or, near the
/// antipode, from the astroid (section 5); series are of the sixth order (section 3). Numbers in brackets are the paper's
/// equations.
struct InverseGeodesic {
    private static let equatorialRadius = 6_378_137.0
    private static let flattening = 1 / 298.257_223_563
    private static let polarRadius = equatorialRadius * (1 - flattening)
    /// The third flattening, (a − b)/(a + b).
    private static let third = flattening / (2 - flattening)
    /// The square of the second eccentricity, (a² − b²)/b².
    private static let eccentricity = flattening * (2 - flattening) / ((1 - flattening) * (1 - flattening))

    /// An angle by its sine and cosine.
    private struct Angle {
        var sine, cosine: Double

        init(sine: Double, cosine: Double) { (self.sine, self.cosine) = (sine, cosine) }

        init(degrees: Double) {
            // Beyond 45° the other function is exact near its zero.
            let isSteep = abs(degrees) > 45
            let radians = (isSteep ? 90 - abs(degrees) : degrees) * .pi / 180
            let (first, second) = (sin(radians), cos(radians))
            self.init(
                sine: isSteep ? (degrees < 0 ? -second : second) : first, cosine: isSteep ? first : second)
        }

        var normalized: Angle {
            let length = hypot(sine, cosine)
            return Angle(sine: sine / length, cosine: cosine / length)
        }

        /// How far another one is ahead, from 0 to half a turn.
        func turn(to other: Angle) -> Double {
            atan2(
                max(0, cosine * other.sine - sine * other.cosine), cosine * other.cosine + sine * other.sine)
        }
    }

    /// The reduced latitudes of the points: the first is in the south, and nowhere nearer to the equator than the second.
    private let first, second: Angle
    /// √(1 + e'² sin²β) of both.
    private let scales: (first: Double, second: Double)
    /// The difference of longitudes, 0…π.
    private let longitude: Double
    private let longitudeAngle: Angle

    /// The length of the shortest path, in metres. Degrees; exact to 10 nm.
    static func meters(
        fromLatitude latitude1: Double, longitude longitude1: Double, toLatitude latitude2: Double,
        longitude longitude2: Double
    ) -> Double {
        // A mirror image is as long.
        let isSwapped = abs(latitude1) < abs(latitude2)
        let (outer, inner) = isSwapped ? (latitude2, latitude1) : (latitude1, latitude2)
        // What rounding takes away from the difference (Knuth, "The Art of Computer Programming", 4.2.2, theorem B).
        let sum = longitude2 - longitude1
        let part = sum - longitude2
        let lost = (longitude2 - (sum - part)) - (longitude1 + part)
        let difference = remainder(sum, 360)
        return InverseGeodesic(
            latitude1: -abs(outer), latitude2: outer > 0 ? -inner : inner,
            longitudeDegrees: abs(difference), difference < 0 ? -lost : lost
        ).meters()
    }

    private init(latitude1: Double, latitude2: Double, longitudeDegrees: Double, _ lost: Double) {
        func reduced(_ latitude: Double) -> Angle {
            let angle = Angle(degrees: latitude)
            let reduced = Angle(sine: (1 - Self.flattening) * angle.sine, cosine: angle.cosine).normalized
            return Angle(sine: reduced.sine, cosine: max(.leastNormalMagnitude.squareRoot(), reduced.cosine))
        }
        let first = reduced(latitude1)
        var second = reduced(latitude2)
        // Latitudes that are the same but for rounding are the same.
        if first.cosine < -first.sine {
            if first.cosine == second.cosine { second.sine = second.sine < 0 ? first.sine : -first.sine }
        } else if abs(second.sine) == -first.sine {
            second.cosine = first.cosine
        }
        (self.first, self.second) = (first, second)
        func scale(_ angle: Angle) -> Double {
            (1 + Self.eccentricity * angle.sine * angle.sine).squareRoot()
        }
        scales = (scale(first), scale(second))
        let lost = lost * .pi / 180
        longitude = longitudeDegrees * .pi / 180 + lost
        longitudeFromAntipode = (longitudeDegrees - 180) * .pi / 180 + lost
        var angle = Angle(degrees: longitudeDegrees > 90 ? 180 - longitudeDegrees : longitudeDegrees)
        if longitudeDegrees > 90 { angle.cosine = -angle.cosine }
        longitudeAngle = Angle(
            sine: max(0, angle.sine + angle.cosine * lost), cosine: angle.cosine - angle.sine * lost)
    }

    /// The difference of longitudes to the antipode of the first point, −π…0.
    private let longitudeFromAntipode: Double

    private func meters() -> Double {
        // Along a meridian, over a pole where the longitudes are opposite.
        if longitudeAngle.sine <= 0 || first.cosine <= .leastNormalMagnitude.squareRoot() {
            return onMeridian()
        }
        if first.sine == 0, longitudeFromAntipode <= -Self.flattening * .pi {
            return Self.equatorialRadius * longitude
        }
        switch start() {
        case .short(let meters): return meters
        case .azimuth(let azimuth): return Self.polarRadius * refined(from: azimuth)
        }
    }

    private func onMeridian() -> Double {
        let start = Angle(sine: first.sine, cosine: longitudeAngle.cosine * first.cosine)
        let end = second
        return Self.polarRadius
            * Series(squareOfK: Self.eccentricity).length(from: start, to: end, arc: start.turn(to: end))
    }
}

// MARK: - Where to start

extension InverseGeodesic {
    private enum Start {
        case azimuth(Angle)
        /// So near that the sphere says it all, in metres.
        case short(Double)
    }

    /// Below this angle on the sphere, its curvature's change along the way doesn't matter.
    private static let shortestAngle =
        0.1 * Double.ulpOfOne.squareRoot() / (max(0.001, flattening) * (1 - flattening / 2) / 2).squareRoot()

    private func start() -> Start {
        let (s1, c1, s2, c2) = (first.sine, first.cosine, second.sine, second.cosine)
        // β2 − β1 and β2 + β1.
        let difference = Angle(sine: s2 * c1 - c2 * s1, cosine: c2 * c1 + s2 * s1)
        let sum = s2 * c1 + c2 * s1
        let isShort = difference.cosine >= 0 && difference.sine < 0.5 && c2 * longitude < 0.5
        var (omega, scale) = (longitudeAngle, 1.0)
        if isShort {
            // A sphere that touches midway [48].
            let square = (s1 + s2) * (s1 + s2)
            let middle = square / (square + (c1 + c2) * (c1 + c2))
            scale = (1 + Self.eccentricity * middle).squareRoot()
            let angle = longitude / ((1 - Self.flattening) * scale)
            omega = Angle(sine: sin(angle), cosine: cos(angle))
        }
        // The azimuth on the sphere [49], without a difference of numbers that are nearly the same.
        let square = omega.sine * omega.sine
        var azimuth = Angle(
            sine: c2 * omega.sine,
            cosine: omega.cosine >= 0
                ? difference.sine + c2 * s1 * square / (1 + omega.cosine)
                : sum - c2 * s1 * square / (1 - omega.cosine))
        let sine = hypot(azimuth.sine, azimuth.cosine)
        let cosine = s1 * s2 + c1 * c2 * omega.cosine
        if isShort, sine < Self.shortestAngle {
            return .short(atan2(sine, cosine) * Self.polarRadius * scale)
        }
        if cosine < 0, sine < 6 * Self.third * .pi * c1 * c1 {
            azimuth = nearAntipode(sum: sum)
        }
        return .azimuth(azimuth.sine > 0 ? azimuth.normalized : Angle(sine: 1, cosine: 0))
    }

    /// Near the antipode, geodesics are nearly straight lines around an astroid [53, 54].
    private func nearAntipode(sum: Double) -> Angle {
        let square = first.sine * first.sine * Self.eccentricity
        let scale = Self.flattening * first.cosine * Series(squareOfK: square).a3 * .pi
        let x = longitudeFromAntipode / scale
        let y = sum / (scale * first.cosine)
        if y > -200 * Double.ulpOfOne, x > -1 - 1000 * Double.ulpOfOne.squareRoot() {
            // On the cut locus of a point on the equator: y is 0 [57].
            let sine = min(1, -x)
            return Angle(sine: sine, cosine: -((1 - sine) * (1 + sine)).squareRoot())
        }
        let root = Self.astroid(x, y)
        // The longitude on the sphere, from the antipode [56].
        let angle = scale * -x * root / (1 + root)
        let (sine, cosine) = (sin(angle), -cos(angle))
        return Angle(
            sine: second.cosine * sine,
            cosine: sum - second.cosine * first.sine * sine * sine / (1 - cosine))
    }

    /// The positive root of κ⁴ + 2κ³ − (x² + y² − 1)κ² − 2y²κ − y² = 0 [55], by its resolvent cubic (appendix B).
    private static func astroid(_ x: Double, _ y: Double) -> Double {
        let (p, q) = (x * x, y * y)
        let r = (p + q - 1) / 6
        guard q != 0 || r > 0 else { return 0 }
        let s = p * q / 4
        let discriminant = s * (s + 2 * r * r * r)
        var u = r
        if discriminant >= 0 {
            let sum = s + r * r * r
            let t = cbrt(sum + (sum < 0 ? -discriminant.squareRoot() : discriminant.squareRoot()))
            u += t + (t != 0 ? r * r / t : 0)
        } else {
            u += 2 * r * cos(atan2((-discriminant).squareRoot(), -(s + r * r * r)) / 3)
        }
        let v = (u * u + q).squareRoot()
        let sum = u < 0 ? q / (v - u) : u + v
        let w = (sum - q) / (2 * v)
        return sum / ((sum + w * w).squareRoot() + w)
    }
}

// MARK: - Newton's method

extension InverseGeodesic {
    /// The geodesic from the first point at an azimuth.
    private struct Path {
        /// Where it meets the latitude of the second point, on the sphere.
        let start, end: Angle
        let arc: Double
        let series: Series
        /// How far it is beyond the second point's longitude there.
        let excess: Double
        /// The derivative of that with respect to the azimuth.
        let slope: Double
    }

    /// The length in units of the polar radius.
    private func refined(from start: Angle) -> Double {
        var azimuth = start
        // Between these azimuths it is.
        var low = Angle(sine: .leastNormalMagnitude.squareRoot(), cosine: 1)
        var high = Angle(sine: .leastNormalMagnitude.squareRoot(), cosine: -1)
        var (isNear, isBisected) = (false, false)
        var path = self.path(at: azimuth)
        for step in 0..<100 {
            let tolerance = (isNear ? 8 : 1) * Double.ulpOfOne
            guard !isBisected, abs(path.excess) >= tolerance else { break }
            if path.excess > 0, azimuth.cosine / azimuth.sine > high.cosine / high.sine {
                high = azimuth
            } else if path.excess < 0, azimuth.cosine / azimuth.sine < low.cosine / low.sine {
                low = azimuth
            }
            let change = -path.excess / path.slope
            let (sine, cosine) = (sin(change), cos(change))
            let next = azimuth.sine * cosine + azimuth.cosine * sine
            if step < 20, path.slope > 0, abs(change) < .pi, next > 0 {
                azimuth = Angle(sine: next, cosine: azimuth.cosine * cosine - azimuth.sine * sine).normalized
                // Newton's method doubles the digits: one step more is the last.
                isNear = abs(path.excess) <= 16 * Double.ulpOfOne
            } else {
                azimuth =
                    Angle(sine: (low.sine + high.sine) / 2, cosine: (low.cosine + high.cosine) / 2).normalized
                isNear = false
                func isClose(_ other: Angle) -> Bool {
                    abs(other.sine - azimuth.sine) + abs(other.cosine - azimuth.cosine) < Double.ulpOfOne
                }
                isBisected = isClose(low) || isClose(high)
            }
            path = self.path(at: azimuth)
        }
        return path.series.length(from: path.start, to: path.end, arc: path.arc)
    }

    private func path(at given: Angle) -> Path {
        let (s1, c1, s2, c2) = (first.sine, first.cosine, second.sine, second.cosine)
        // Along the equator there would be no way to the north.
        let azimuth =
            s1 == 0 && given.cosine == 0
            ? Angle(sine: given.sine, cosine: -Double.leastNormalMagnitude.squareRoot()) : given
        // The azimuth at the equator [5].
        let sine0 = azimuth.sine * c1
        let cosine0 = hypot(azimuth.cosine, azimuth.sine * s1)
        let omega1 = Angle(sine: sine0 * s1, cosine: azimuth.cosine * c1)
        let start = Angle(sine: s1, cosine: omega1.cosine).normalized
        // The azimuth at the second point, by Clairaut's rule [45].
        let cosine2: Double
        if c2 != c1 || abs(s2) != -s1 {
            let change = c1 < -s1 ? (c2 - c1) * (c1 + c2) : (s1 - s2) * (s1 + s2)
            cosine2 = max(0, azimuth.cosine * c1 * azimuth.cosine * c1 + change).squareRoot() / c2
        } else {
            cosine2 = abs(azimuth.cosine)
        }
        let omega2 = Angle(sine: sine0 * s2, cosine: cosine2 * c2)
        let end = Angle(sine: s2, cosine: omega2.cosine).normalized
        let arc = start.turn(to: end)
        let omega = Angle(
            sine: max(0, omega1.cosine * omega2.sine - omega1.sine * omega2.cosine),
            cosine: omega1.cosine * omega2.cosine + omega1.sine * omega2.sine)
        // ω12 − λ12.
        let excess = atan2(
            omega.sine * longitudeAngle.cosine - omega.cosine * longitudeAngle.sine,
            omega.cosine * longitudeAngle.cosine + omega.sine * longitudeAngle.sine)
        let series = Series(squareOfK: cosine0 * cosine0 * Self.eccentricity)
        // [8]
        let bent = Self.flattening * sine0 * series.longitude(from: start, to: end, arc: arc)
        let slope: Double
        if cosine2 == 0 {
            slope = -2 * (1 - Self.flattening) * scales.first / s1
        } else {
            // [46]
            slope =
                series.reducedLength(from: start, to: end, arc: arc, scales) * (1 - Self.flattening)
                / (cosine2 * c2)
        }
        return Path(start: start, end: end, arc: arc, series: series, excess: excess - bent, slope: slope)
    }
}

// MARK: - Series

extension InverseGeodesic {
    /// The series of one geodesic, in ε [16].
    private struct Series {
        private let epsilon: Double
        let a3: Double

        /// - Parameter squareOfK: e'² cos²α0 [9].
        init(squareOfK: Double) {
            let e = squareOfK / (2 * (1 + (1 + squareOfK).squareRoot()) + squareOfK)
            epsilon = e
            let n = InverseGeodesic.third
            // [24]
            let a1 = (1 - n) / 2, a2 = (2 + n - 3 * n * n) / 8, a3 = (1 + 3 * n + n * n) / 16
            let a4 = (3 + 2 * n) / 64, a5 = 3.0 / 128
            self.a3 = 1 - e * (a1 + e * (a2 + e * (a3 + e * (a4 + e * a5))))
        }

        /// The distance along a geodesic, in units of the polar radius [7, 15, 17, 18].
        func length(from start: Angle, to end: Angle, arc: Double) -> Double {
            arc + (a1Less1 * arc + (1 + a1Less1) * difference(c1, start, end))
        }

        /// How much the longitudes on the ellipsoid and on the sphere differ, in units of f sin α0 [23, 25].
        func longitude(from start: Angle, to end: Angle, arc: Double) -> Double {
            a3 * (arc + difference(c3, start, end))
        }

        /// The reduced length m12, in units of the polar radius [38, 40].
        func reducedLength(
            from start: Angle, to end: Angle, arc: Double, _ scales: (first: Double, second: Double)
        ) -> Double {
            let a1 = 1 + a1Less1
            let j = (a1 - a2) * arc + a1 * difference(c1, start, end) - a2 * difference(c2, start, end)
            return scales.second * start.cosine * end.sine - scales.first * start.sine * end.cosine
                - start.cosine * end.cosine * j
        }

        private typealias Coefficients = (Double, Double, Double, Double, Double, Double)

        private var a1Less1: Double {
            let e = epsilon * epsilon
            return (epsilon + e * (1.0 / 4 + e * (1.0 / 64 + e / 256))) / (1 - epsilon)
        }

        /// [42]
        private var a2: Double {
            let e = epsilon * epsilon
            return (1 - epsilon) * (1 + e * (1.0 / 4 + e * (9.0 / 64 + e * 25 / 256)))
        }

        private var c1: Coefficients {
            let e = epsilon, q = e * e
            return (
                e * (-1.0 / 2 + q * (3.0 / 16 - q / 32)), q * (-1.0 / 16 + q * (1.0 / 32 - q * 9 / 2048)),
                e * q * (-1.0 / 48 + q * 3 / 256), q * q * (-5.0 / 512 + q * 3 / 512),
                e * q * q * -7 / 1280, q * q * q * -7 / 2048
            )
        }

        /// [43]
        private var c2: Coefficients {
            let e = epsilon, q = e * e
            return (
                e * (1.0 / 2 + q * (1.0 / 16 + q / 32)), q * (3.0 / 16 + q * (1.0 / 32 + q * 35 / 2048)),
                e * q * (5.0 / 48 + q * 5 / 256), q * q * (35.0 / 512 + q * 7 / 512),
                e * q * q * 63 / 1280, q * q * q * 77 / 2048
            )
        }

        private var c3: Coefficients {
            let e = epsilon, q = e * e, n = InverseGeodesic.third
            let first =
                e
                * ((1 - n) / 4 + e
                    * ((1 - n * n) / 8 + e
                        * ((3 + 3 * n - n * n) / 64 + e * ((5.0 + 2 * n) / 128 + e * 3 / 128))))
            let second =
                q
                * ((2 - 3 * n + n * n) / 32 + e
                    * ((3 - 2 * n - 3 * n * n) / 64 + e * ((3 + n) / 128 + e * 5 / 256)))
            let third = e * q * ((5 - 9 * n + 5 * n * n) / 192 + e * ((9 - 10 * n) / 384 + e * 7 / 512))
            return (
                first, second, third, q * q * ((7 - 14 * n) / 512 + e * 7 / 512), e * q * q * 21 / 2560, 0
            )
        }

        /// Σ cₗ sin 2lσ at the end, less that at the start.
        private func difference(_ c: Coefficients, _ start: Angle, _ end: Angle) -> Double {
            sum(c, end) - sum(c, start)
        }

        /// By Clenshaw's recurrence.
        private func sum(_ c: Coefficients, _ angle: Angle) -> Double {
            let x = 2 * (angle.cosine - angle.sine) * (angle.cosine + angle.sine)
            let b6 = c.5
            let b5 = x * b6 + c.4
            let b4 = x * b5 - b6 + c.3
            let b3 = x * b4 - b5 + c.2
            let b2 = x * b3 - b4 + c.1
            let b1 = x * b2 - b3 + c.0
            return 2 * angle.sine * angle.cosine * b1
        }
    }
}
