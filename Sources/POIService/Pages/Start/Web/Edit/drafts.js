// What somebody has typed and not saved. It outlives the tab, in the browser's storage, and goes with the key.

import { draftPrefix } from '../key.js';

/** Where the browser stores nothing. */
const others = new Map();

/** The draft of a place, or of a new one (`new`); null where there is none. */
export function draftOf(id) {
    try {
        return JSON.parse(others.get(String(id)) ?? localStorage.getItem(draftPrefix + id));
    } catch {
        return null;
    }
}

/** Keeps a draft: `{ base, values, resets, requestKey, savedAt }`, `base` being the record that was seen, null of a new place. */
export function keepDraft(id, draft) {
    const text = JSON.stringify({ ...draft, savedAt: new Date().toISOString() });
    try {
        localStorage.setItem(draftPrefix + id, text);
        others.delete(String(id));
    } catch {
        others.set(String(id), text);
    }
}

export function dropDraft(id) {
    others.delete(String(id));
    try {
        localStorage.removeItem(draftPrefix + id);
    } catch { /* Then there is none. */ }
}

/** All drafts, by the ids of their places. */
export function allDrafts() {
    const ids = new Set(others.keys());
    try {
        for (const name of Object.keys(localStorage)) if (name.startsWith(draftPrefix)) ids.add(name.slice(draftPrefix.length));
    } catch { /* Then there are no others. */ }
    return [...ids].map((id) => [id, draftOf(id)]).filter(([, draft]) => draft !== null);
}
