// Requests to the service, of which this page is a client like any other.

import { state } from './state.js';

const keyName = 'poi.key';
const running = new Map();
let pending = 0;

/** Called with whether any request is running. */
export const progress = { changed: () => {} };

/** The service can't be reached. */
export class Unreachable extends Error {}

/** The service says what is wrong (RFC 9457). */
export class Problem extends Error {
    constructor(status, document) {
        super(document.detail ?? document.title ?? `The service responded with status ${status}.`);
        this.status = status;
        this.document = document;
    }
}

/** Whether a request was given up, since a later one takes its place. */
export const isAborted = (error) => error.name === 'AbortError';

/** The key is kept in the tab's session, and nowhere else. */
export const key = {
    get: () => sessionStorage.getItem(keyName),
    set: (value) => sessionStorage.setItem(keyName, value),
    forget: () => sessionStorage.removeItem(keyName),
};

/**
 * Gets JSON. Of the requests of one `channel`, only the last counts: an earlier one that still runs is given up.
 *
 * Returns the body, and the path of the next page if there is one.
 */
export async function get(channel, path, query = {}) {
    running.get(channel)?.abort();
    const controller = new AbortController();
    running.set(channel, controller);
    progress.changed((pending += 1) > 0);
    try {
        return await attempt(address(path, query), { signal: controller.signal });
    } finally {
        progress.changed((pending -= 1) > 0);
        if (running.get(channel) === controller) running.delete(channel);
    }
}

/** Sends a request that nothing gives up. Returns the body, null where there is none, and the path of the next page. */
export async function send(method, path, { query, ...options } = {}) {
    progress.changed((pending += 1) > 0);
    try {
        return await attempt(address(path, query ?? {}), { method, ...options });
    } finally {
        progress.changed((pending -= 1) > 0);
    }
}

function address(path, query) {
    const url = new URL(path, document.baseURI);
    for (const [name, value] of Object.entries(query)) {
        if (value !== '' && value !== null && value !== undefined) url.searchParams.set(name, value);
    }
    return url;
}

async function attempt(url, options, retries = 2) {
    const headers = { ...options.headers, ...(key.get() ? { Authorization: `Bearer ${key.get()}` } : {}) };
    // What a key has opened isn't left in the browser's cache, and who edits sees at once what was changed.
    const cache = key.get() || state.isEditing ? 'no-store' : 'default';
    let response;
    try {
        response = await fetch(url, { ...options, headers, cache });
        if (response.ok) return { body: response.status === 204 ? null : await response.json(), next: nextPath(response, url) };
    } catch (error) {
        if (isAborted(error)) throw error;
        throw new Unreachable('The service can’t be reached.');
    }
    const seconds = Number(response.headers.get('Retry-After') ?? NaN);
    if ((response.status === 429 || response.status === 503) && seconds <= 5 && retries > 0) {
        await pause(seconds * 1000, options.signal);
        return attempt(url, options, retries - 1);
    }
    throw new Problem(response.status, await response.json().catch(() => ({})));
}

function pause(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, milliseconds);
        signal?.addEventListener('abort', () => {
            clearTimeout(timer);
            reject(signal.reason);
        });
    });
}

/** The next page's link, which is relative to the request's address (RFC 8288). */
function nextPath(response, url) {
    const link = /^<([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '');
    return link && new URL(link[1], url).href;
}
