// A place's detail: what is known of it, how far it is, where it is from.

import { badges, byID, categoryName, coordinateText, distanceText, element, outsideLink } from './elements.js';
import { week, weekTable } from './hours.js';

/** Properties that have a fact of their own. */
const ownFacts = new Set(['opening_hours', 'phone', 'email']);

/**
 * Shows a place, and returns whether it wasn't shown before. `dataset` is what is known of where it is from, `localName`
 * its name where it is, if that isn't the one in the reader's language. `near` is called for what is near it; `tools` are what an editor can do.
 */
export function showDetail(place, { from, dataset, localName, link, imageHosts, close, near, tools = [] }) {
    const source = place.source;
    const photo = photoOf(place.properties?.photo, imageHosts);
    const others = Object.entries(place.properties ?? {}).filter(([name]) => !ownFacts.has(name) && !(name === 'photo' && photo));
    const facts = [
        ['Distance', place.distance === undefined ? null : `${distanceText(place.distance)} from ${from}`],
        ['Local name', localName],
        ['Address', place.address],
        ['Opening hours', openingHours(place.properties?.opening_hours)],
        ['Phone', phone(place.properties?.phone)],
        ['E-mail', mail(place.properties?.email)],
        ['Website', place.website && outsideLink(place.website, shortAddress(place.website))],
        ...others.map(([name, value]) => [propertyName(name), followed(value)]),
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
        element('p', { class: 'kind' }, categoryName(place.category, place.categoryLabel), ...badges(place)),
        photo,
        tools.length > 0 ? element('p', { class: 'edit-tools' }, ...tools) : null,
        element('dl', {}, ...facts.filter(([, value]) => value).flatMap(([title, value]) => [
            element('dt', {}, title), element('dd', {}, ...[value].flat().filter(Boolean)),
        ])),
        element('p', { class: 'actions' },
            outsideLink(`https://www.openstreetmap.org/directions?to=${place.latitude}%2C${place.longitude}`, 'Directions'), ' ',
            element('button', { type: 'button', class: 'link', onclick: near }, 'What is near'), ' ',
            element('a', { href: link }, 'Link to this place'), ' ',
            copyButton('Copy link', new URL(link, location.href).href), ' ',
            copyButton('Copy position', `${place.latitude}, ${place.longitude}`)),
    ].filter(Boolean), close);
    if (isNew) {
        byID('detail').scrollTop = 0;
        name.focus({ preventScroll: true });
    }
    return isNew;
}

/** Says why there is no detail. */
export function showDetailFault(text, close) {
    open([element('h2', { id: 'detail-name', tabindex: '-1' }, text)], close);
    byID('detail-name').focus();
}

/** Closes the detail; returns whether the focus was in it, or would be nowhere. */
export function hideDetail() {
    const detail = byID('detail');
    const isLeft = !detail.hidden && (detail.contains(document.activeElement) || document.activeElement === document.body);
    detail.hidden = true;
    return isLeft;
}

function open(content, close) {
    const detail = byID('detail');
    // What is only shown anew keeps the focus, and the part that is read.
    const focusable = () => [...detail.querySelectorAll('a, button, [tabindex]')];
    const [focused, top] = [focusable().indexOf(document.activeElement), detail.scrollTop];
    const button = element('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: close }, '×');
    detail.replaceChildren(button, ...content);
    detail.hidden = false;
    detail.scrollTop = top;
    if (focused >= 0) focusable()[focused]?.focus({ preventScroll: true });
}

/** A button that copies a text and says so; browsers allow that on https and on the machine itself only. */
function copyButton(title, copied) {
    if (!navigator.clipboard) return null;
    return element('button', { type: 'button', class: 'link', 'aria-live': 'polite', onclick: async (event) => {
        const button = event.currentTarget;
        try {
            await navigator.clipboard.writeText(copied);
            button.textContent = 'Copied';
        } catch {
            button.textContent = copied;
        }
    } }, title);
}

/** Opening hours as OpenStreetMap has them: as a week where they are that simple, and in any case a line for each rule. */
function openingHours(value) {
    if (typeof value !== 'string') return valueText(value);
    const days = week(value);
    if (!days) return rulesOf(value);
    const today = (new Date().getDay() + 6) % 7;
    return [
        weekTable(days, today),
        element('span', { class: 'own-words' }, ...rulesOf(value)),
    ];
}

function rulesOf(value) {
    const rules = value.split(';').map((rule) => rule.trim()).filter(Boolean);
    return rules.flatMap((rule, index) => (index === 0 ? [rule] : [element('br'), rule]));
}

/** A telephone number that can be called, or what else stands there. */
function phone(value) {
    if (typeof value !== 'string' || !/^\+?[\d\s().\/-]{3,40}$/.test(value)) return valueText(value);
    return element('a', { href: `tel:${value.replace(/[^+\d]/g, '')}` }, value);
}

/** A picture of one of the hosts that the service allows; null for any other address. */
function photoOf(address, hosts = []) {
    if (typeof address !== 'string' || !URL.canParse(address)) return null;
    const { protocol, host } = new URL(address);
    if (protocol !== 'https:' || !hosts.includes(host)) return null;
    return element('img', { class: 'photo', src: address, alt: '', loading: 'lazy', referrerpolicy: 'no-referrer' });
}

/** An e-mail address that can be written to, or what else stands there. */
function mail(value) {
    if (typeof value !== 'string' || !/^[\w.+-]{1,64}@[\w-]+(\.[\w-]+)+$/.test(value)) return valueText(value);
    return element('a', { href: `mailto:${value}` }, value);
}

/** A property's value, which is followed where it is an address of the web. */
const followed = (value) => (typeof value === 'string' && /^https?:\/\//.test(value) ? outsideLink(value, shortAddress(value)) : valueText(value));

/** A property's name as people read it: `wheelchair_access` is `Wheelchair access`. */
function propertyName(name) {
    const words = name.replaceAll('_', ' ').replaceAll(':', ', ');
    return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A property's value; teams may have any JSON there. */
function valueText(value) {
    if (value === null || value === undefined || value === '') return null;
    if (typeof value === 'boolean') return value ? 'Yes' : 'No';
    if (Array.isArray(value)) return value.map(valueText).filter(Boolean).join(', ');
    if (typeof value === 'object') return Object.entries(value).map(([name, inner]) => `${propertyName(name)}: ${valueText(inner) ?? '–'}`).join('; ');
    return String(value);
}

/** A web address without what doesn't help to recognise it. */
function shortAddress(address) {
    return address.replace(/^https?:\/\/(www\.)?/, '').replace(/\/$/, '');
}
