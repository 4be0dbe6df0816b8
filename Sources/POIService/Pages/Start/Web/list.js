// The list: places by their distance, a page at a time.

import { badges, byID, categoryName, countOf, distanceText, element } from './elements.js';

/** What distances are from, in words. */
export const originNames = { middle: 'the map’s middle', marker: 'the marker', me: 'you' };
let places = [];

/** Makes a list. `handlers`: `opened` with a place, `pointed` with a place's id or null. */
export function createList(handlers) {
    const results = byID('results');
    results.addEventListener('keydown', (event) => {
        const buttons = [...results.querySelectorAll('button')];
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const next = buttons[buttons.indexOf(event.target) + step];
        if (step === undefined || !next) return;
        event.preventDefault();
        next.focus();
    });

    function row(place) {
        const point = () => handlers.pointed(String(place.id));
        const leave = () => handlers.pointed(null);
        return element('li', {}, element(
            'button',
            { type: 'button', 'data-id': place.id, onclick: () => handlers.opened(place), onmouseenter: point, onfocus: point, onmouseleave: leave, onblur: leave },
            element('span', { class: 'name' }, place.name), ' ',
            place.distance === undefined ? null : element('span', { class: 'distance' }, distanceText(place.distance)), ' ',
            element('span', { class: 'kind' }, categoryName(place.category, place.categoryLabel),
                place.matchedName && ` · also ${place.matchedName}`, ...without(place), ...badges(place)),
            place.address && element('span', { class: 'address' }, place.address),
        ));
    }

    return {
        /** Shows a page of places instead of what was there, or after it. */
        show(page, { after = false, hasMore, from, isSearch, isFiltered, clearFilters }) {
            places = after ? [...places, ...page] : page;
            const focused = results.contains(document.activeElement) ? document.activeElement.dataset.id ?? '' : null;
            if (after) results.append(...page.map(row));
            else results.replaceChildren(...page.map(row));
            byID('more').hidden = !hasMore;
            byID('summary').replaceChildren(...(places.length === 0
                ? emptyText(isFiltered, clearFilters)
                : [`${countOf(places.length, 'place')}${hasMore ? ' and more' : ''}, ${isSearch ? 'best' : `nearest to ${originNames[from]}`} first`]));
            if (after) results.children[places.length - page.length]?.querySelector('button').focus();
            else if (focused !== null) this.focus(focused);
        },

        /** Gives the focus to a place, or where it isn't listed, to the list. */
        focus(id) {
            const button = results.querySelector(`[data-id="${CSS.escape(id)}"]`);
            (button ?? results).focus({ preventScroll: !button });
        },
    };
}

/** The word of the search that the place was found without. */
const without = ({ leftOut }) => (leftOut ? [' · without ', element('s', {}, leftOut)] : []);

function emptyText(isFiltered, clearFilters) {
    if (!isFiltered) {
        return ['There are no places yet. Where the service runs, this fills it: ', element('code', {}, 'poi import places.csv --dataset NAME --license LICENSE')];
    }
    return ['No place matches. ', element('button', { type: 'button', class: 'link', onclick: clearFilters }, 'Show all places')];
}
