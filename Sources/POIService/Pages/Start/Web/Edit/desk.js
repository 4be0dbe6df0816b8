// The desk, where an editor works: over the list and the details, or on a phone in the lower part of the page. One thing is on it.

import { byID, element } from '../elements.js';

let leave = () => {};
let cameFrom = null;

/** Lays something on the desk. `left` is called when it goes, for something else or by itself. */
export function openDesk(title, content, { left = () => {} } = {}) {
    const desk = byID('desk') ?? makeDesk();
    const isOpen = !desk.hidden;
    const before = leave;
    leave = () => {};
    before();
    if (!isOpen) cameFrom = document.activeElement;
    leave = left;
    desk.replaceChildren(
        element('div', { class: 'desk-buttons' },
            element('button', { type: 'button', class: 'fold', 'aria-expanded': 'true', onclick: () => fold(byID('desk').dataset.folded === undefined) }, 'Show the map'),
            element('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: closeDesk }, '×')),
        element('h2', { id: 'desk-title', tabindex: '-1' }, title), ...content);
    desk.hidden = false;
    desk.removeAttribute('data-folded');
    document.body.dataset.desk = 'open';
    desk.scrollTop = 0;
    byID('desk-title').focus({ preventScroll: true });
}

/** Clears the desk; the focus goes back to where it was. */
export function closeDesk() {
    const desk = byID('desk');
    if (!desk || desk.hidden) return;
    const before = leave;
    leave = () => {};
    const hadFocus = desk.contains(document.activeElement) || document.activeElement === document.body || document.activeElement.matches('.edit-pin');
    desk.hidden = true;
    desk.replaceChildren();
    delete document.body.dataset.desk;
    before();
    const next = [cameFrom, byID('detail-name'), byID('edit-bar')?.querySelector('button')].find((made) => made?.isConnected && made.offsetParent !== null && made !== document.body);
    if (hadFocus) next?.focus({ preventScroll: true });
}

export const isDeskOpen = () => byID('desk')?.hidden === false;

/** Whether this is still what is on the desk. */
export const isOnDesk = (made) => byID('desk')?.contains(made) ?? false;

/** On a phone, lets one see the map; and back. */
export function fold(isFolded) {
    const desk = byID('desk');
    desk.toggleAttribute('data-folded', isFolded);
    const button = desk.querySelector('.fold');
    button.textContent = isFolded ? 'Go on' : 'Show the map';
    button.setAttribute('aria-expanded', String(!isFolded));
    if (isFolded) desk.scrollTop = 0;
}

function makeDesk() {
    const desk = element('section', { id: 'desk', 'aria-labelledby': 'desk-title', hidden: true });
    byID('detail').after(desk);
    // What is typed here isn't for the page.
    desk.addEventListener('keydown', (event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        closeDesk();
    });
    return desk;
}

/** A part of the page that says what is under way, or what is wrong, and is read aloud. */
export const statusLine = () => element('p', { class: 'desk-status', role: 'status' });

/** A button; `kind` is `primary` for what is to be done, `link` for what is beside it. */
export const button = (text, onclick, kind = 'secondary', attributes = {}) => element('button', { type: 'button', class: kind, onclick, ...attributes }, text);
