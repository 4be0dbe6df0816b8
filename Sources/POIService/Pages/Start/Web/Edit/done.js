// What was done last, and the way back: a bar that stays until the next edit.

import { Problem } from '../api.js';
import { byID, element } from '../elements.js';
import { page } from '../editing.js';
import { settle } from './conflict.js';
import { areSame, changesText, membersOf, sourceMembersOf, patchOf } from './members.js';
import { correct, record, remove, restore, versions } from './records.js';

/** Says what was done. `takeBack` undoes it, and says what it did; null where nothing does. */
export function say(text, takeBack = null) {
    const bar = byID('done');
    const back = takeBack && element('button', { type: 'button', class: 'link', onclick: () => undo(back, takeBack) }, 'Take back');
    bar.replaceChildren(element('span', {}, text), ...(back ? [' ', back] : []));
}

async function undo(back, takeBack) {
    back.disabled = true;
    try {
        await takeBack();
    } catch (error) {
        if (!(error instanceof Error)) throw error;
        back.disabled = false;
        const fault = byID('done').querySelector('.fault') ?? element('span', { class: 'fault' });
        fault.textContent = ` ${error.message}`;
        byID('done').append(fault);
    }
}

/** What became of a place by an edit: it is shown, and can be taken back. */
export async function didCorrect(before, after, verb = 'Corrected') {
    const [old, now] = [membersOf(before), membersOf(after)];
    const all = Object.keys({ ...old, ...now });
    const pick = (members) => Object.fromEntries(all.filter((name) => !areSame(old[name], now[name])).map((name) => [name, members[name] ?? null]));
    const text = changesText(pick(old), pick(now));
    say(`${verb} ${after.name}${text === '' ? ': nothing is different' : `: ${text}`}.`, text === '' ? null : () => takeBack({
        id: after.id, to: before.version, version: after.version, before: pick(old), after: pick(now),
    }));
    await page.reload();
}

/**
 * Takes back what has changed a place from `before` to `after`: as it was in version `to`, if nothing has changed it since
 * `version`; else members by themselves, and where somebody else has changed those, both are shown.
 */
export async function takeBack({ id, to, version, before, after }) {
    const current = await record(id);
    if (current.version === version) {
        await didCorrect(current, await restore(id, version, to), 'Took back what was changed of');
        return;
    }
    const [now, source] = [membersOf(current), sourceMembersOf(current)];
    const mine = Object.fromEntries(Object.entries(before).filter(([name, value]) => !areSame(now[name], value)));
    const isUntouched = Object.keys(mine).every((name) => areSame(now[name], after[name]));
    if (!isUntouched) return settle({ current, base: after, mine, title: 'What you take back was changed since', mineTitle: 'As it was before', written: didCorrect });
    const resets = Object.keys(mine).filter((name) => name in source && areSame(source[name], mine[name]));
    await didCorrect(current, await correct(id, current.version, patchOf(mine, resets)), 'Took back what was changed of');
}

/** A place was removed: it can be had again. */
export async function didRemove(place, verb = 'Removed') {
    await page.leave(place.id);
    say(`${verb} ${place.name}.`, () => bringBack(place.id));
}

/** Brings a removed place back as it was. */
export async function bringBack(id) {
    const removal = (await versions(id)).body[0];
    if (!removal?.isRemoval) throw new Error('This place is there again.');
    const place = await restore(id, removal.version, removal.version);
    await page.show(place);
    say(`${place.name} is there again.`, async () => {
        await remove(id, place.version);
        await didRemove(place, 'Removed again:');
    });
}

/** A place was made. */
export async function didCreate(place) {
    await page.show(place);
    say(`Added ${place.name}.`, async () => {
        try {
            await remove(place.id, place.version);
        } catch (error) {
            if (error instanceof Problem && error.status === 412) throw new Error('It was changed since; remove it by its details.');
            throw error;
        }
        await didRemove(place, 'Took back what was added:');
    });
}
