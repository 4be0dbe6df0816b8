// Two places that are the same become one: the other is picked on the map, or from those nearby.

import { Problem } from '../api.js';
import { categoryName, distanceText, element } from '../elements.js';
import { page } from '../editing.js';
import * as service from '../places.js';
import { button, closeDesk, openDesk, statusLine } from './desk.js';
import { bringBack, say, takeBack } from './done.js';
import { areSame, memberText, memberTitle, membersOf } from './members.js';
import { merge, record } from './records.js';
import { attempt } from './versions.js';

const nearbyMeters = 300;

/** Lets somebody choose the place that this one is the same as. */
export async function chooseMerge(id) {
    const place = await record(id);
    const status = statusLine();
    const list = element('ul', { class: 'desk-list' });
    openDesk(`${place.name} is the same as…`, [
        element('p', { class: 'hint' }, 'Choose the place that stays, here or on the map. It gets what it lacks, and is found by both names.'), status, list,
    ], { left: () => page.pick(null) });
    page.pick((picked) => attempt(() => confirm(place, picked.id)));
    const nearby = await service.near(place, nearbyMeters);
    const others = nearby.filter((other) => String(other.id) !== String(id));
    status.textContent = others.length === 0 ? `There is no other place within ${distanceText(nearbyMeters)}.` : '';
    list.append(...others.map((other) => element('li', {},
        button(other.name, () => attempt(() => confirm(place, other.id)), 'link'), ` ${categoryName(other.category, other.categoryLabel)}, ${distanceText(other.distance)}`)));
}

async function confirm(place, into) {
    if (String(into) === String(place.id)) throw new Error('This is the place itself.');
    const other = await record(into);
    const [goes, stays] = [membersOf(place), membersOf(other)];
    const gained = Object.keys(goes).filter((name) => (stays[name] ?? null) === null && (goes[name] ?? null) !== null);
    const status = statusLine();
    openDesk(`Merge ${place.name} into ${other.name}`, [
        element('p', {}, `${place.name} goes, and its links lead to ${other.name}`, gained.length === 0 ? ', which lacks nothing.' : ', which gets:'),
        element('ul', {}, ...gained.map((name) => element('li', {}, `${memberTitle(name)}: ${memberText(name, goes[name])}`))),
        status,
        element('p', { class: 'desk-actions' }, button('Merge', () => attempt(write), 'primary'), button('Choose another', () => attempt(() => chooseMerge(place.id)))),
    ]);

    async function write() {
        status.textContent = 'Merging…';
        let merged;
        try {
            merged = await merge(place.id, place.version, into);
        } catch (error) {
            if (error instanceof Problem && error.status === 412) throw new Error('Somebody has changed this place meanwhile. Choose again.');
            throw error;
        }
        closeDesk();
        await page.show(merged);
        const now = membersOf(merged);
        const changed = Object.keys({ ...stays, ...now }).filter((name) => !areSame(stays[name], now[name]));
        const pick = (members) => Object.fromEntries(changed.map((name) => [name, members[name] ?? null]));
        say(`Merged ${place.name} into ${other.name}.`, async () => {
            await bringBack(place.id);
            if (changed.length > 0) await takeBack({ id: into, to: other.version, version: merged.version, before: pick(stays), after: pick(now) });
            say(`${place.name} and ${other.name} are two places again.`);
        });
    }
}
