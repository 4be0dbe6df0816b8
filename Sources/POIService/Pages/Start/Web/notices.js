// What goes wrong is said in one place, and tried again.

import { isAborted, key, Problem, Unreachable } from './api.js';
import { byID, element } from './elements.js';
import { askForKey } from './key.js';

const retryMilliseconds = 5000;
let again = () => {};
let retryTimer;

/** Calls `refresh` when the browser is online again, when somebody asks for it, and while the service can't be reached. */
export function watchConnection(refresh) {
    again = refresh;
    addEventListener('online', refresh);
    addEventListener('offline', () => say(new Unreachable()));
}

/** Does a part of the page's work; returns whether nothing went wrong. */
export async function attempt(work) {
    try {
        await work();
        return true;
    } catch (error) {
        if (isAborted(error)) return true;
        if (!(error instanceof Unreachable || error instanceof Problem)) throw error;
        if (error.status === 401) askForKey(key.get() === null ? '' : 'This key is not valid.');
        else say(error);
        return false;
    }
}

/** Says something that isn't about the service, until somebody does something else. */
export function tell(text) {
    clearNotice();
    const told = element('span', {}, text);
    byID('notice').append(told);
    for (const event of ['pointerdown', 'keydown']) addEventListener(event, () => told.remove(), { once: true, capture: true });
}

/** Takes back what was said of the service. */
export function clearNotice() {
    clearTimeout(retryTimer);
    byID('notice').querySelector('.fault')?.remove();
}

function say(error) {
    const isUnreachable = error instanceof Unreachable;
    const reason = navigator.onLine ? 'The service can’t be reached.' : 'You are offline.';
    const text = isUnreachable ? `${reason} What is here may be old.` : error.message;
    const button = element('button', { type: 'button', class: 'link', onclick: again }, 'Try again');
    clearNotice();
    byID('notice').append(element('span', { class: 'fault' }, text, ' ', button));
    if (isUnreachable) retryTimer = setTimeout(again, retryMilliseconds);
}
