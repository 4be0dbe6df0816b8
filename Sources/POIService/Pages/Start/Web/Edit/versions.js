// What has changed a place, and what people have changed in view; each can be taken back.

import { byID, element } from '../elements.js';
import { page } from '../editing.js';
import { button, openDesk, statusLine } from './desk.js';
import { bringBack, didCorrect, takeBack } from './done.js';
import { changedMembers, memberText, memberTitle } from './members.js';
import { changes, record, restore, versions } from './records.js';

/** Shows what has changed a place. */
export async function showVersions(id, name) {
    const current = await record(id).catch((error) => { if (error.status === 410) return null; throw error; });
    await showPages(`Versions of ${name}`, 'Nothing has changed this place since it was added.', (next) => versions(id, next), (items, index) => {
        const item = items[index];
        // Each version ended by a change; the next newer one is what that change made.
        const version = index === 0 ? current?.version : items[index - 1].version;
        return [
            ...described(item, current),
            item.isRemoval && index === 0 && !current ? button('Bring it back', () => attempt(() => bringBack(id)), 'link') : null,
            !current || item.isRemoval ? null : button('Take back', () => attempt(() => undo(id, item, version)), 'link'),
            !current ? null : button('Restore what it was before', () => attempt(async () => {
                const now = await record(id);
                await didCorrect(now, await restore(id, now.version, item.version), 'Restored');
            }), 'link'),
        ];
    });
}

/** Shows what people have changed in view, newest first. */
export async function showChanges() {
    const box = page.box();
    await showPages('Newest changes in view', 'People have changed nothing here.', (next) => changes(box, next), (items, index) => {
        const item = items[index];
        return [
            element('b', {}, item.name), ...described(item, item),
            button('Look', () => page.look(item.isRemoval ? null : item.id, item), 'link', { 'aria-label': `Look at ${item.name}` }),
            item.isRemoval ? button('Bring it back', () => attempt(() => bringBack(item.id)), 'link')
                : button('Take back', () => attempt(() => undo(item.id, item, null)), 'link'),
            button('Versions', () => attempt(() => showVersions(item.id, item.name)), 'link'),
        ];
    });
}

const undo = async (id, { version: to, changes: changed }, version) => takeBack({ id, to, version, ...changedMembers(changed, await record(id)) });

/** Shows items of the service's pages, a page at a time. */
export async function showPages(title, emptyText, load, row) {
    const [items, list, status] = [[], element('ol', { class: 'desk-list' }), statusLine()];
    const more = button('Show more', () => attempt(add), 'secondary', { hidden: true });
    let next = null;
    async function add() {
        const loaded = await load(next);
        const first = items.length;
        items.push(...loaded.body);
        next = loaded.next;
        for (let index = first; index < items.length; index += 1) list.append(element('li', {}, ...row(items, index)));
        more.hidden = next === null;
        status.textContent = items.length > 0 ? '' : next === null ? emptyText : 'Nothing yet: what is older may have more.';
    }
    openDesk(title, [status, list, more]);
    await add();
}

/** Does what a button of the desk is for; what goes wrong is said there. */
export async function attempt(work) {
    try {
        await work();
    } catch (error) {
        const status = byID('desk')?.querySelector('.desk-status');
        if (!status) throw error;
        status.textContent = error.message;
        status.scrollIntoView({ block: 'nearest' });
    }
}

function described({ who, changedAt, isRemoval, changes: changed }, place) {
    const { before, after } = changedMembers(changed, place);
    return [
        element('span', { class: 'hint' }, ` ${new Date(changedAt).toLocaleString()}, ${who}${isRemoval ? ': removed' : ''}`),
        changeList(before, after),
    ];
}

/** The members of a change, with what they were and what they are. */
export function changeList(before, after) {
    return element('ul', { class: 'desk-changes' }, ...Object.keys(after).map((name) => element('li', {},
        `${memberTitle(name)}: `, element('del', {}, memberText(name, before[name])), ' ', element('ins', {}, memberText(name, after[name])))));
}
