// What people choose: categories, the text that they search for, and what distances are from.

import { byID, categoryName, coordinateIn, element, shortCount } from './elements.js';

const shortList = 6;
const typingMilliseconds = 250;
const suggestions = 5;
let showsAll = false;

/** Shows a chip for each category, the chosen ones first where not all are shown. */
export function showCategories(categories, chosen, choose) {
    const listed = categories.filter(({ name, count }) => count > 0 || chosen.includes(name));
    const shown = showsAll ? listed : listed.filter(({ name }, index) => index < shortList || chosen.includes(name));
    const focused = document.activeElement?.dataset.category;
    const chips = shown.map(({ name, count, label }) => element(
        'button',
        {
            type: 'button', class: 'chip', 'aria-pressed': String(chosen.includes(name)), 'data-category': name,
            onclick: () => choose(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]),
        },
        categoryName(name, label), ' ', element('span', { class: 'count' }, shortCount(count)),
    ));
    const toggle = listed.length > shortList && element('button', {
        type: 'button', class: 'chip more', 'aria-expanded': String(showsAll), 'data-category': '',
        onclick: () => {
            showsAll = !showsAll;
            showCategories(categories, chosen, choose);
            // Where the others begin, and not where they end.
            const next = showsAll && [...byID('categories').children].find((chip) => !shown.some(({ name }) => name === chip.dataset.category));
            if (next) next.focus();
        },
    }, showsAll ? 'Fewer' : `${listed.length - shown.length} more`);
    byID('categories').replaceChildren(...chips, ...(toggle ? [toggle] : []));
    if (focused !== undefined) byID('categories').querySelector(`[data-category="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

/** Calls `search` with the text, once people pause in typing; and `go` with a coordinate, when they enter one. */
export function watchSearch(search, go) {
    let timer;
    const now = ({ isEntered = false } = {}) => {
        clearTimeout(timer);
        const text = byID('q').value.trim();
        const coordinate = coordinateIn(text);
        if (!coordinate) search(text);
        else if (isEntered) go(coordinate);
    };
    byID('q').addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(now, typingMilliseconds);
    });
    byID('search').addEventListener('submit', (event) => {
        event.preventDefault();
        now({ isEntered: true });
    });
}

/** Suggests the names of these places for what is being typed. */
export function suggest(places) {
    const options = places.slice(0, suggestions).map(({ name, matchedName, address }) => element('option', { value: matchedName ?? name }, address));
    byID('suggestions').replaceChildren(...options);
}

/** Calls `choose` with what distances are to be from. */
export function watchOrigin(choose) {
    byID('from').addEventListener('change', (event) => choose(event.target.value));
}

/** Shows the state's text and origin in their fields; not while somebody types. */
export function showChoices({ q, from }) {
    if (byID('q').value.trim() !== q && document.activeElement !== byID('q')) byID('q').value = q;
    byID('from').querySelector(`[value="${from}"]`).checked = true;
}

/** The browser's position; rejects with a text for people. */
export function browserPosition() {
    return new Promise((resolve, reject) => {
        const fail = () => reject(new Error('The browser doesn’t say where you are.'));
        if (!navigator.geolocation) return fail();
        navigator.geolocation.getCurrentPosition(
            ({ coords }) => resolve({ latitude: coords.latitude, longitude: coords.longitude }), fail,
            { timeout: 10_000, maximumAge: 60_000 });
    });
}
