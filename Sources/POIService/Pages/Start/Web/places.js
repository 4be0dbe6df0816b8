// What the page asks the service: places in a box, nearest, featured, one of them, and what there is of them.

import { get } from './api.js';
import { pixel } from './mercator.js';
import { state } from './state.js';

const maximumCells = 1024;

const filters = () => ({ category: state.categories.join(), q: state.q });
/** The reader's languages, as many as the service takes. */
const languages = () => ({ lang: navigator.languages.filter((tag) => /^[a-z]{2,8}(-[a-z\d]{1,8})*$/i.test(tag) && tag.length <= 35).slice(0, 10).join() });
const around = ({ latitude, longitude }) => ({ lat: latitude, long: longitude });

/**
 * The clusters of the places in a box `[west, south, east, north]`. `changed` are parameters other than those of the state, and
 * a `channel`.
 */
export async function inBox(box, zoom, { channel = 'map', ...changed } = {}) {
    const query = { bbox: box.join(), zoom: countableZoom(box, zoom), ...filters(), ...languages(), ...changed };
    return (await get(channel, 'locations/clusters', query)).body.clusters;
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

function byRelevance(channel, query) {
    return get(channel, 'locations', { ...query, sort: 'relevance' });
}

/** The places within so many metres of another one. */
export const near = async (place, radius) => (await get('near', 'locations', { ...around(place), radius, limit: 20, ...languages() })).body;

/** Those of these places that are there. */
export const places = async (ids) => (ids.length === 0 ? [] : (await get('places', 'locations', { ids: ids.join(), ...languages() })).body);

/** The nearest featured places, where any are within 50 km. */
export function nearestFeatured(center) {
    return get('featured', 'locations', { ...around(center), radius: 50_000, featured: true, limit: 10, ...filters(), ...languages() });
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

/** All categories with their counts and labels. */
export const allCategories = () => get('categories', 'categories', languages());

/** The datasets that places are from, and who is to be named for them. */
export const attributions = () => get('attributions', 'attributions');

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
