// Where somebody else has changed a place meanwhile: both versions, member by member, and a choice.

import { Problem } from '../api.js';
import { element } from '../elements.js';
import { dropDraft } from './drafts.js';
import { button, closeDesk, openDesk, statusLine } from './desk.js';
import { areSame, memberText, memberTitle, membersOf, patchOf } from './members.js';
import { correct, newKey, record, versions } from './records.js';

/**
 * Shows what is to be written (`mine`, by members) beside what the place is now (`current`), both having come from `base`, and
 * writes what is chosen; of those in `resets`, what the source says. Of what only `mine` has changed, that is chosen already. `written` is called with the place before and after
 * it; `draft` is the id of the draft that goes then.
 */
export async function settle({ current, base, mine, title = 'Somebody else has changed this place', mineTitle = 'Yours', resets = [], draft = null, written }) {
    const now = membersOf(current);
    const who = await lastEditor(current.id);
    const theirsTitle = who ? `Now, by ${who}` : 'Now';
    const names = Object.keys(mine).filter((name) => !areSame(mine[name], now[name]));
    const status = statusLine();
    const form = element('form', { onsubmit: save }, ...names.map(row));
    const rest = Object.keys({ ...base, ...now }).filter((name) => name in base && !(name in mine) && !areSame(base[name], now[name]));
    openDesk(title, [
        element('p', {}, current.name, names.length === 0 ? ' is by now what you want it to be.' : '. Nothing is written until you have chosen.'),
        rest.length > 0 ? element('p', { class: 'hint' }, `Changed by others only, which stays: ${rest.map(memberTitle).join(', ')}.`) : null,
        form, status,
    ].filter(Boolean));
    form.append(element('p', { class: 'desk-actions' },
        names.length > 0 ? element('button', { type: 'submit', class: 'primary' }, 'Save what is chosen') : null,
        button(names.length > 0 ? 'Leave it as it is now' : 'Close', leave)));

    function row(name) {
        const isMineOnly = areSame(base[name], now[name]);
        const choice = (value, text, shown, isChosen) => element('label', { class: 'choice' },
            element('input', { type: 'radio', name, value, required: true, checked: isChosen }), element('span', {}, element('b', {}, text), ' ', shown));
        return element('fieldset', { class: 'conflict' }, element('legend', {}, memberTitle(name)),
            choice('mine', mineTitle, memberText(name, mine[name]), isMineOnly),
            choice('theirs', theirsTitle, memberText(name, now[name]), false),
            isMineOnly || areSame(base[name], mine[name]) ? null : element('p', { class: 'hint' }, `Before: ${memberText(name, base[name])}`));
    }

    function leave() {
        if (draft !== null) dropDraft(draft);
        closeDesk();
    }

    async function save(event) {
        event.preventDefault();
        const chosen = Object.fromEntries(names.filter((name) => new FormData(form).get(name) === 'mine').map((name) => [name, mine[name]]));
        if (Object.keys(chosen).length === 0) return leave();
        status.textContent = 'Saving…';
        try {
            const place = await correct(current.id, current.version, patchOf(chosen, resets.filter((name) => name in chosen)), newKey());
            leave();
            await written(current, place);
        } catch (error) {
            if (error instanceof Problem && error.status === 412) return settle({ current: await record(current.id), base: now, mine: chosen, title, mineTitle, resets, draft, written });
            status.textContent = `Not saved: ${error.message}`;
        }
    }
}

async function lastEditor(id) {
    try {
        return (await versions(id)).body[0]?.who;
    } catch {
        return null;
    }
}
