// The service's key, where it needs one: asked for once, and kept in this tab only.

import { key } from './api.js';
import { byID } from './elements.js';

/** Asks for a key; the one that was tried isn't valid if `isWrong`. */
export function askForKey(isWrong) {
    byID('key-fault').textContent = isWrong ? 'This key is not valid.' : '';
    if (!byID('key-dialog').open) byID('key-dialog').showModal();
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
        refresh();
    });
    forget.addEventListener('click', () => {
        key.forget();
        location.reload();
    });
}
