// What the page asks the service: places in a box, nearest, featured, one of them, and what there is of them.

import { get } from './api.js';
import { state } from './state.js';

const maximumCells = 1024;
const maximumLatitude = 85.0511;
const withoutIndexMilliseconds = 30_000;
let countsAgainAt = 0;

const filters = () => ({ category: state.categories.join(), q: state.q });
const around = ({ latitude, longitude }) => ({ lat: latitude, long: longitude });

/**
 * The places in a box `[west, south, east, north]`, as clusters.
 *
 * Without its index the service can't count them; then these are the nearest hundred to the box's middle, and
 * `isPartial` says whether there are more.
 */
export async function inBox(box, zoom) {
    if (Date.now() >= countsAgainAt) {
        try {
            const query = { bbox: box.join(), zoom: countableZoom(box, zoom), ...filters() };
            const { body } = await get('map', 'locations/clusters', query);
            return { clusters: body.clusters, isPartial: false };
        } catch (error) {
            // Servers from before this page can't count either.
            if (error.code !== 'index-required' && ![400, 404].includes(error.status)) throw error;
            countsAgainAt = Date.now() + withoutIndexMilliseconds;
        }
    }
    const { body, next } = await get('map', 'locations', { bbox: box.join(), limit: 100, ...filters() });
    const clusters = body.map((place) => ({
        count: 1, latitude: place.latitude, longitude: place.longitude, place,
    }));
    return { clusters, isPartial: next !== null };
}

/** The nearest places, a page at a time; `next` is the path of a further page. */
export function nearest(center, next = null) {
    return next
        ? get('list', next)
        : get('list', 'locations', { ...around(center), limit: 20, ...filters() });
}

/** The nearest featured places. */
export function nearestFeatured(center) {
    return get('featured', 'locations', { ...around(center), featured: true, limit: 10, ...filters() });
}

/** One place, with its distance if there is a centre. */
export function place(id, center) {
    return get('detail', `locations/${id}`, center ? around(center) : {});
}

/** All categories with their counts. */
export const allCategories = () => get('categories', 'categories');

/** The datasets that places are from, and who is to be named for them. */
export async function attributions() {
    try {
        return await get('attributions', 'attributions');
    } catch (error) {
        if (error.status !== 404) throw error;
        return { body: [] };
    }
}

/** Where the map begins: a box with many places, or a coordinate where the service can't count. Null without places. */
export async function beginning() {
    let box = [-180, -90, 180, 90];
    for (const zoom of [0, 4, 8]) {
        const { clusters } = await inBox(box, zoom);
        const fullest = clusters.reduce((most, cluster) => (cluster.count > (most?.count ?? 0) ? cluster : most), null);
        if (!fullest?.bbox) return fullest && { coordinate: (await aFeaturedPlace()) ?? fullest };
        box = fullest.bbox;
    }
    return { box };
}

async function aFeaturedPlace() {
    const { body } = await get('map', 'locations', { bbox: '-180,-90,180,90', featured: true, limit: 1 });
    return body[0];
}

/** The zoom at which a box has no more cells, a quarter of a tile wide, than the service counts. */
function countableZoom([west, south, east, north], zoom) {
    const width = (east < west ? east + 360 - west : east - west) / 360;
    const height = Math.abs(mercator(north) - mercator(south)) / (2 * Math.PI);
    while (zoom > 0) {
        const cells = 2 ** (zoom + 2);
        if ((Math.ceil(width * cells) + 1) * (Math.ceil(height * cells) + 1) <= maximumCells) break;
        zoom -= 1;
    }
    return zoom;
}

function mercator(latitude) {
    const clamped = Math.max(-maximumLatitude, Math.min(maximumLatitude, latitude));
    return Math.asinh(Math.tan((clamped * Math.PI) / 180));
}
