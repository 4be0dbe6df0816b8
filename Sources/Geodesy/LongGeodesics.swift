import PointsOfInterestAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Geodesics that are too long for what `Ranking.geodesicBounds` tells from a chord, in a quarter of the time that
/// `Geodesic.distanceMeters` takes.
///
/// T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with application of nested equations", Survey
/// Review 23, no. 176 (1975), pages 88–93, with reduced latitudes and the longitude from points in space.
extension Ranking {
    /// For longer chords, in metres, the points are so nearly antipodes that the iteration may not converge.
    package static let maximumIterableChordMeters = 12_000_000.0
    /// More than Vincenty's series and the end of the iteration are off, in metres: that was up to 9.7e-5 among 107 million pairs of
    /// points.
    private static let vincentyMargin = 5e-4

    /// The minimum and the maximum geodesic between two points of the ellipsoid, neither of them at a distance of less than
    /// `maximumSectionChordMeters`; nil where they are too far apart to tell.
    @usableFromInline
    package static func longGeodesicBounds(
        from start: SIMD3<Double>, to end: SIMD3<Double>, square: Double
    ) -> (minimum: Double, maximum: Double)? {
        guard square < maximumIterableChordMeters * maximumIterableChordMeters else { return nil }
        let meters = vincentyMeters(from: start, to: end)
        return (meters - vincentyMargin, meters + vincentyMargin)
    }

    private static func vincentyMeters(from start: SIMD3<Double>, to end: SIMD3<Double>) -> Double {
        let (a, b) = (Ellipsoid.semiAxes.x, Ellipsoid.semiAxes.z)
        let flattening = (a - b) / a
        // Sine and cosine of the reduced latitudes.
        let (sine1, sine2) = (start.z / b, end.z / b)
        let cosine1 = (start.x * start.x + start.y * start.y).squareRoot() / a
        let cosine2 = (end.x * end.x + end.y * end.y).squareRoot() / a
        let longitude = atan2(start.x * end.y - start.y * end.x, start.x * end.x + start.y * end.y)
        var (lambda, sigma, sineSigma, cosineSigma) = (longitude, 0.0, 0.0, 0.0)
        var (cosineSquaredAlpha, cosineMiddle) = (0.0, 0.0)
        var (change, isLast) = (0.0, false)
        for step in 0..<8 {
            let (sineLambda, cosineLambda) = (sin(lambda), cos(lambda))
            let across = cosine2 * sineLambda
            let along = cosine1 * sine2 - sine1 * cosine2 * cosineLambda
            sineSigma = (across * across + along * along).squareRoot()
            cosineSigma = sine1 * sine2 + cosine1 * cosine2 * cosineLambda
            sigma = atan2(sineSigma, cosineSigma)
            let sineAlpha = cosine1 * cosine2 * sineLambda / sineSigma
            cosineSquaredAlpha = 1 - sineAlpha * sineAlpha
            // 0 on the equator, where there is no middle.
            cosineMiddle =
                cosineSquaredAlpha > 1e-12 ? cosineSigma - 2 * sine1 * sine2 / cosineSquaredAlpha : 0
            if isLast { break }
            let c = flattening / 16 * cosineSquaredAlpha * (4 + flattening * (4 - 3 * cosineSquaredAlpha))
            let bent = cosineMiddle + c * cosineSigma * (2 * cosineMiddle * cosineMiddle - 1)
            let next = longitude + (1 - c) * flattening * sineAlpha * (sigma + c * sineSigma * bent)
            let (before, isSmall) = (change, abs(next - lambda) < 1e-7)
            change = next - lambda
            lambda = next
            // The changes are a geometric series, nearly: what is left of it is added at once.
            if step > 0, isSmall, before != 0 { lambda += change * change / (before - change) }
            isLast = isSmall && (step > 0 || change == 0)
        }
        let u2 = cosineSquaredAlpha * (a * a - b * b) / (b * b)
        let scale = 1 + u2 / 16_384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
        let bend = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
        let middle = cosineMiddle * cosineMiddle
        let inner =
            cosineSigma * (2 * middle - 1)
            - bend / 6 * cosineMiddle * (4 * sineSigma * sineSigma - 3) * (4 * middle - 3)
        let correction = bend * sineSigma * (cosineMiddle + bend / 4 * inner)
        return b * scale * (sigma - correction)
    }
}
