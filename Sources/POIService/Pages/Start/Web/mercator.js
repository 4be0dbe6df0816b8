// Web Mercator, as the map is drawn: 256 pixels wide at zoom 0, and twice as wide with each zoom.

import { wrapped } from './elements.js';

export const maximumLatitude = 85.0511;
export const closestZoom = 19;
const margin = 48;

const widthAt = (zoom) => 256 * 2 ** zoom;

/** The pixel `[x, y]` of a coordinate, x to the east and y to the south. */
export function pixel({ latitude, longitude }, zoom) {
    const clamped = Math.max(-maximumLatitude, Math.min(maximumLatitude, latitude));
    const north = Math.asinh(Math.tan((clamped * Math.PI) / 180)) / Math.PI;
    return [((longitude + 180) / 360) * widthAt(zoom), ((1 - north) / 2) * widthAt(zoom)];
}

function coordinate([x, y], zoom) {
    const north = Math.PI * (1 - (2 * y) / widthAt(zoom));
    return { latitude: (Math.atan(Math.sinh(north)) * 180) / Math.PI, longitude: (x / widthAt(zoom)) * 360 - 180 };
}

/** The smallest zoom at which the map isn't much narrower than its element, which would show the Earth again and again. */
export const smallestZoom = ([width]) => Math.max(0, Math.floor(Math.log2(width / 256) + 0.3));

/** The box `[west, south, east, north]` that a map of this size shows; it may cross the antimeridian. */
export function boxInView(at, [width, height]) {
    const [x, y] = pixel(at, at.zoom);
    const { latitude: north, longitude: left } = coordinate([x - width / 2, y - height / 2], at.zoom);
    const { latitude: south, longitude: right } = coordinate([x + width / 2, y + height / 2], at.zoom);
    // An east of 180 stays 180.
    const [west, east] = right - left >= 360 ? [-180, 180] : [wrapped(left), -wrapped(-right)];
    // What is beyond the map's edge is drawn at its edge.
    const isAtEdge = (latitude) => Math.abs(latitude) >= maximumLatitude - 0.01;
    return [west, isAtEdge(south) ? -90 : south, east, isAtEdge(north) ? 90 : north].map((value) => Number(value.toFixed(5)));
}

/** Where a map of this size shows a whole box, with room around it: `{latitude, longitude, zoom}`. */
export function viewOf([west, south, east, north], size, maximumZoom = 16) {
    const right = east < west ? east + 360 : east;
    const [left, bottom] = pixel({ latitude: south, longitude: west }, 0);
    const [far, top] = pixel({ latitude: north, longitude: right }, 0);
    const fit = Math.min(
        Math.log2((size[0] - 2 * margin) / Math.max(far - left, 1e-9)), Math.log2((size[1] - 2 * margin) / Math.max(bottom - top, 1e-9)));
    const zoom = Math.max(smallestZoom(size), Math.min(maximumZoom, Math.floor(fit)));
    return limited({ ...coordinate([(left + far) / 2, (bottom + top) / 2], 0), zoom }, size);
}

/** What a map of this size shows where it is to show `at`: it doesn't go beyond its northern and southern edges. */
export function limited({ latitude, longitude, zoom }, [width, height]) {
    const allowed = Math.min(closestZoom, Math.max(smallestZoom([width]), zoom));
    const [x, y] = pixel({ latitude, longitude }, allowed);
    const world = widthAt(allowed);
    const middle = height >= world ? world / 2 : Math.min(world - height / 2, Math.max(height / 2, y));
    const moved = Math.abs(middle - y) < 1 ? { latitude, longitude } : coordinate([x, middle], allowed);
    return { latitude: Number(moved.latitude.toFixed(5)), longitude: Number(wrapped(moved.longitude).toFixed(5)), zoom: allowed };
}

/** The smallest box around boxes; it crosses the antimeridian only where it is at most half as wide then. */
export function boxAround(boxes) {
    const [south, north] = [Math.min(...boxes.map((box) => box[1])), Math.max(...boxes.map((box) => box[3]))];
    const spans = boxes.map(([west, , east]) => [west, east < west ? east + 360 : east]).sort(([one], [other]) => one - other);
    const [first, last] = [spans[0][0], Math.max(...spans.map(([, east]) => east))];
    let gap = { width: 0 };
    let reached = spans[0][1];
    for (const [west, east] of spans) {
        if (west - reached > gap.width) gap = { width: west - reached, west: reached, east: west };
        reached = Math.max(reached, east);
    }
    if (last <= 180 && 360 - gap.width > (last - first) / 2) return [first, south, last, north];
    if (last > 180 && gap.width === 0) return [-180, south, 180, north];
    return [gap.east, south, Math.max(gap.west, last - 360), north];
}
