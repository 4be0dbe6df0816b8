// What the page asks the service: places in a box, nearest, featured, one of them, and what there is of them.

import { get } from './api.js';
import { pixel } from './mercator.js';
import { state } from './state.js';

const maximumCells = 1024;
const withoutIndexMilliseconds = 30_000;
let countsAgainAt = 0;

const filters = () => ({ category: state.categories.join(), q: state.q });
/** The reader's languages, as many as the service takes. */
const languages = () => ({ lang: navigator.languages.filter((tag) => /^[a-z]{2,8}(-[a-z\d]{1,8})*$/i.test(tag) && tag.length <= 35).slice(0, 10).join() });
const around = ({ latitude, longitude }) => ({ lat: latitude, long: longitude });

/**
 * The places in a box `[west, south, east, north]`, as clusters.
 *
 * Without its index the service can't count them; then these are the nearest hundred to the box's middle, and
 * `isPartial` says whether there are more. `changed` are parameters other than those of the state, and a `channel`.
 */
export async function inBox(box, zoom, { channel = 'map', ...changed } = {}) {
    if (Date.now() >= countsAgainAt) {
        try {
            const query = { bbox: box.join(), zoom: countableZoom(box, zoom), ...filters(), ...languages(), ...changed };
            const { body } = await get(channel, 'locations/clusters', query);
            return { clusters: body.clusters, isPartial: false };
        } catch (error) {
            // Servers from before this page can't count either.
            if (error.code !== 'index-required' && ![400, 404].includes(error.status)) throw error;
            countsAgainAt = Date.now() + withoutIndexMilliseconds;
        }
    }
    const { body, next } = await get(channel, 'locations', { bbox: box.join(), limit: 100, ...filters(), ...languages(), ...changed });
    const clusters = body.map((place) => ({
        count: 1, latitude: place.latitude, longitude: place.longitude, place,
    }));
    return { clusters, isPartial: next !== null };
}

/**
 * The places of the list, a page at a time: the nearest, or those that a search finds best; `next` is the path of a
 * further page.
 */
export async function listed(center, next = null) {
    if (next) return get('list', next);
    const query = { ...around(center), limit: 20, ...filters(), ...languages() };
    return state.q === '' ? get('list', 'locations', query) : byRelevance('list', query);
}

/** Whether a search finds something within 50 km of a coordinate. */
export async function isNearby(q, center) {
    const query = { ...around(center), radius: 50_000, limit: 1, ...filters(), q };
    return (await get('search', 'locations', query)).body.length > 0;
}

/** The place that a search finds best, if there is one. */
export async function best(q, center) {
    return (await byRelevance('search', { ...around(center), limit: 1, ...filters(), ...languages(), q })).body[0];
}

/** Without its index the service can't rank; then these are the nearest. */
async function byRelevance(channel, query) {
    try {
        return await get(channel, 'locations', { ...query, sort: 'relevance' });
    } catch (error) {
        if (error.code !== 'index-required' && error.code !== 'unknown-sort') throw error;
        return get(channel, 'locations', query);
    }
}

/** The nearest featured places. */
export function nearestFeatured(center) {
    return get('featured', 'locations', { ...around(center), featured: true, limit: 10, ...filters(), ...languages() });
}

/**
 * One place in the reader's language, with its distance if there is a centre; and its name without a language, where
 * that is another one.
 */
export async function place(id, center) {
    const { body } = await get('detail', `locations/${id}`, { ...(center ? around(center) : {}), ...languages() });
    const local = body.language ? (await get('detail', `locations/${id}`)).body.name : body.name;
    return { place: body, localName: local === body.name ? null : local };
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

/** A featured place anywhere, if there is one. */
export async function aFeaturedPlace() {
    const { body } = await get('map', 'locations', { bbox: '-180,-90,180,90', featured: true, limit: 1 });
    return body[0];
}

/** The zoom at which a box has no more cells, a quarter of a tile wide, than the service counts. */
function countableZoom([west, south, east, north], zoom) {
    const [left, bottom] = pixel({ latitude: south, longitude: west }, 0);
    const [right, top] = pixel({ latitude: north, longitude: east < west ? east + 360 : east }, 0);
    while (zoom > 0) {
        const [across, down] = [right - left, bottom - top].map((pixels) => Math.ceil((pixels / 256) * 2 ** (zoom + 2)) + 1);
        if (across * down <= maximumCells) break;
        zoom -= 1;
    }
    return zoom;
}
