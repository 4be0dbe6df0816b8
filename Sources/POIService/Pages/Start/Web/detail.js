// A place's detail: what is known of it, how far it is, where it is from.

import { byID, categoryName, coordinateText, distanceText, element, outsideLink } from './elements.js';

/** Shows a place, and returns whether it wasn't shown before; `dataset` is what is known of where it is from. */
export function showDetail(place, { from, dataset, close }) {
    const source = place.source;
    const facts = [
        ['Distance', place.distance === undefined ? null : `${distanceText(place.distance)} from ${from}`],
        ['Address', place.address],
        ['Opening hours', text(place.properties?.opening_hours)],
        ['Phone', text(place.properties?.phone)],
        ['Website', place.website && outsideLink(place.website, shortAddress(place.website))],
        ['Position', coordinateText(place)],
        ['Source', source && [
            dataset?.url ? outsideLink(dataset.url, source.dataset) : source.dataset,
            source.license && `, ${source.license}`, dataset?.credit && `, ${dataset.credit}`,
        ]],
    ];
    const isNew = byID('detail').hidden || byID('detail').dataset.place !== String(place.id);
    byID('detail').dataset.place = place.id;
    const name = element('h2', { id: 'detail-name', tabindex: '-1' }, place.name);
    open([
        name,
        element('p', { class: 'kind' }, categoryName(place.category), place.featured ? element('span', { class: 'badge' }, 'Featured') : null),
        element('dl', {}, ...facts.filter(([, value]) => value).flatMap(([title, value]) => [
            element('dt', {}, title), element('dd', {}, ...[value].flat().filter(Boolean)),
        ])),
    ], close);
    if (isNew) name.focus({ preventScroll: true });
    return isNew;
}

/** Says why there is no detail. */
export function showDetailFault(text, close) {
    open([element('h2', { id: 'detail-name', tabindex: '-1' }, text)], close);
    byID('detail-name').focus();
}

/** Closes the detail; returns whether it was open. */
export function hideDetail() {
    const wasOpen = !byID('detail').hidden;
    byID('detail').hidden = true;
    return wasOpen;
}

function open(content, close) {
    const button = element('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: close }, '×');
    byID('detail').replaceChildren(button, ...content);
    byID('detail').hidden = false;
}

/** A property that is text; teams may have anything by that name. */
function text(property) {
    return typeof property === 'string' ? property : null;
}

/** A web address without what doesn't help to recognise it. */
function shortAddress(address) {
    return address.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '');
}
