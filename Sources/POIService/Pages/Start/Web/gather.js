// Clusters that would cover each other on the map, as one with the sum of their places.

import { wrapped } from './elements.js';
import { boxAround } from './mercator.js';

/** How wide a cluster or a place is on the map, in pixels. */
export const spotSize = ({ place, count }) => (place ? 24 : Math.round(24 + 4 * Math.log10(count)));

/**
 * The same places in clusters that don't cover each other: each lies at the mean of its places, in the smallest box around
 * theirs. `pointOf` says where on the map a cluster is, in pixels.
 */
export function gathered(clusters, pointOf) {
    let [spots, before] = [clusters.map((cluster) => ({ cluster, point: pointOf(cluster) })), Infinity];
    // One that has grown may cover others.
    while (spots.length < before) {
        before = spots.length;
        const kept = [];
        for (const spot of spots.sort((one, other) => other.cluster.count - one.cluster.count)) {
            const covered = kept.find((other) => isCovering(other, spot));
            if (covered) Object.assign(covered, together(covered, spot));
            else kept.push(spot);
        }
        spots = kept;
    }
    return spots.map(({ cluster }) => cluster);
}

function isCovering(one, other) {
    const distance = Math.hypot(one.point.x - other.point.x, one.point.y - other.point.y);
    return distance < (spotSize(one.cluster) + spotSize(other.cluster)) / 2;
}

function together(one, other) {
    const [first, second] = [one.cluster, other.cluster];
    const count = first.count + second.count;
    const share = second.count / count;
    const between = (from, to) => from + share * (to - from);
    return {
        cluster: {
            count, bbox: boxAround([first.bbox, second.bbox]),
            latitude: between(first.latitude, second.latitude),
            longitude: wrapped(first.longitude + share * wrapped(second.longitude - first.longitude)),
        },
        point: { x: between(one.point.x, other.point.x), y: between(one.point.y, other.point.y) },
    };
}
