// What the page shows, and the address bar, which holds it behind the `#`: that part is never sent to a server.

const listeners = [];

export const state = {
    /** What the map shows: `{latitude, longitude, zoom}`; null until it is known. */
    at: null,
    /** The categories that are chosen; none means all. */
    categories: [],
    /** The text that is searched for. */
    q: '',
    /** What the list's distances are from: `middle` of the map, `marker`, or `me`. */
    from: 'middle',
    /** The map's middle as somebody has chosen it: what moves the map by itself doesn't sort the list anew. */
    middle: null,
    /** The marker's coordinate. */
    marker: null,
    /** The browser's coordinate. It isn't in the address: who shares a link doesn't share where they are. */
    me: null,
    /** The id of the place whose detail is open. */
    place: null,
    /** The tab on a phone: `map` or `list`. */
    view: 'map',
    /** Whether somebody edits. */
    isEditing: false,
};

/** Calls `listener` with the names of what has changed. */
export function subscribe(listener) {
    listeners.push(listener);
}

/** Changes the state, the address and what depends on them. With `isStep`, the browser's Back undoes it. */
export function change(changes, { isStep = false } = {}) {
    const before = location.hash;
    const changed = assign(changes);
    if (changed.length === 0) return;
    const address = toAddress();
    if (address !== before) history[isStep ? 'pushState' : 'replaceState'](null, '', address || location.pathname + location.search);
    listeners.forEach((listener) => listener(changed));
}

/** The changes by which somebody goes to a part of the map. */
export const chosen = (at) => ({ at, middle: { latitude: at.latitude, longitude: at.longitude } });

/** The coordinate that the list's distances are from. */
export function center() {
    return { marker: state.marker, me: state.me }[state.from] ?? state.middle;
}

/** Reads the state from the address: at the start, on Back, and when somebody changes it. */
export function readAddress() {
    const changed = assign(fromAddress());
    if (changed.length > 0) listeners.forEach((listener) => listener(changed));
}

function assign(changes) {
    const changed = Object.keys(changes).filter((key) => JSON.stringify(state[key]) !== JSON.stringify(changes[key]));
    for (const key of changed) state[key] = changes[key];
    return changed;
}

function toAddress() {
    const parts = new URLSearchParams();
    const { at, marker, place, view, q, categories, from, isEditing } = state;
    if (at) parts.set('at', [at.latitude, at.longitude, at.zoom].join());
    if (categories.length > 0) parts.set('category', categories.join());
    if (q) parts.set('q', q);
    if (from === 'marker' && marker) parts.set('marker', [marker.latitude, marker.longitude].join());
    if (place !== null) parts.set('place', place);
    if (view !== 'map') parts.set('view', view);
    if (isEditing) parts.set('edit', 1);
    const text = parts.toString().replaceAll('%2C', ',');
    return text && `#${text}`;
}

function fromAddress() {
    const parts = new URLSearchParams(location.hash.slice(1));
    const marker = coordinate(parts.get('marker'));
    const at = coordinate(parts.get('at'));
    const place = parts.get('place') ?? '';
    const from = marker ? 'marker' : state.from === 'marker' ? 'middle' : state.from;
    return {
        ...(at?.zoom === undefined ? {} : chosen(at)),
        categories: (parts.get('category') ?? '').split(',').filter((name) => name !== ''),
        q: (parts.get('q') ?? '').slice(0, 100),
        marker: marker ?? state.marker,
        from,
        place: /^[1-9][0-9]{0,18}$/.test(place) ? place : null,
        view: parts.get('view') === 'list' ? 'list' : 'map',
        isEditing: parts.has('edit'),
    };
}

/** Parses `latitude,longitude` with or without a zoom; null for anything else. */
function coordinate(text) {
    const [latitude, longitude, zoom, ...rest] = (text ?? '').split(',').map((part) => (part.trim() ? Number(part) : NaN));
    const isValid = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && rest.length === 0;
    if (!isValid) return null;
    if (zoom === undefined) return { latitude, longitude };
    return Number.isInteger(zoom) && zoom >= 0 && zoom <= 22 ? { latitude, longitude, zoom } : null;
}
