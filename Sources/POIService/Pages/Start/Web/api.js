// Requests to the service, of which this page is a client like any other.

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
        return await attempt(address(path, query), path, controller.signal);
    } finally {
        progress.changed((pending -= 1) > 0);
        if (running.get(channel) === controller) running.delete(channel);
    }
}

function address(path, query) {
    const url = new URL(path, document.baseURI);
    for (const [name, value] of Object.entries(query)) {
        if (value !== '' && value !== null && value !== undefined) url.searchParams.set(name, value);
    }
    return url;
}

async function attempt(url, path, signal, retries = 2) {
    const headers = key.get() ? { Authorization: `Bearer ${key.get()}` } : {};
    let response;
    try {
        // What a key has opened isn't left in the browser's cache.
        response = await fetch(url, { headers, signal, cache: key.get() ? 'no-store' : 'default' });
        if (response.ok) return { body: await response.json(), next: nextPath(response, path) };
    } catch (error) {
        if (isAborted(error)) throw error;
        throw new Unreachable('The service can’t be reached.');
    }
    const seconds = Number(response.headers.get('Retry-After') ?? NaN);
    if ((response.status === 429 || response.status === 503) && seconds <= 5 && retries > 0) {
        await pause(seconds * 1000, signal);
        return attempt(url, path, signal, retries - 1);
    }
    throw new Problem(response.status, await response.json().catch(() => ({})));
}

function pause(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, milliseconds);
        signal.addEventListener('abort', () => {
            clearTimeout(timer);
            reject(signal.reason);
        });
    });
}

/** The next page's link has only a query (RFC 8288). */
function nextPath(response, path) {
    const link = /^<(\?[^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '');
    return link && path.split('?')[0] + link[1];
}
