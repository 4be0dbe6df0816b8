// The service's key, where it needs one: asked for once, and kept in this tab only.

import { key } from './api.js';
import { byID } from './elements.js';

/** What is typed and not saved is stored in the browser under names that begin so. It goes with the key. */
export const draftPrefix = 'poi.draft.';

/** Called with whether a key was given; null where everything is loaded again with it. */
let answer = null;

/**
 * Asks for a key; `fault` says why not the one that was tried. Resolves with whether one was given, where a `title` says what it is
 * for; else everything is loaded again with it.
 */
export function askForKey(fault, { title = null, action = 'Show the places' } = {}) {
    byID('key-fault').textContent = fault;
    byID('key-title').textContent = title ?? 'This service needs a key';
    byID('key-action').textContent = action;
    if (!byID('key-dialog').open) byID('key-dialog').showModal();
    return title && new Promise((resolve) => { answer = resolve; });
}

/** Calls `refresh` with a new key. */
export function watchKey(refresh) {
    const forget = byID('forget-key');
    forget.hidden = key.get() === null;
    byID('key-dialog').addEventListener('close', () => {
        const value = byID('key').value.trim();
        byID('key').value = '';
        if (value !== '') key.set(value);
        forget.hidden = key.get() === null;
        const resolve = answer ?? refresh;
        answer = null;
        resolve(value !== '');
    });
    forget.addEventListener('click', () => {
        key.forget();
        for (const name of Object.keys(localStorage)) if (name.startsWith(draftPrefix)) localStorage.removeItem(name);
        location.reload();
    });
}
