// What an editor can do: the bar of edit mode, and what is offered with a place.

import { byID, element } from '../elements.js';
import { offer, page } from '../editing.js';
import { change } from '../state.js';
import { button, closeDesk, isDeskOpen, openDesk, statusLine } from './desk.js';
import { didCorrect, didRemove, say } from './done.js';
import { allDrafts } from './drafts.js';
import { openForm, openNewForm } from './form.js';
import { chooseMerge } from './merge.js';
import { correct, mayEdit, record, remove } from './records.js';
import { showReports } from './reports.js';
import { openReview } from './review.js';
import { showChanges, showVersions } from './versions.js';

/** Does what a button is for; what goes wrong is said in the bar. */
async function attempt(work) {
    try {
        await work();
    } catch (error) {
        say(error.message);
    }
}

/** Begins to edit; returns whether somebody may. */
async function begin() {
    await mayEdit();
    if (byID('edit-bar')) return;
    const bar = element('div', { id: 'edit-bar', role: 'toolbar', 'aria-label': 'Editing' },
        button('Add a place', () => attempt(addPlace)), button('Changes', () => attempt(showChanges)),
        page.settings.editing.takesReports ? button('Reports', () => attempt(showReports)) : null,
        button('Review an import', openReview), button('Drafts', showDrafts), button('Done editing', () => change({ isEditing: false })));
    byID('notice').after(bar);
    // It is there before it says something, so that it is read aloud.
    document.querySelector('footer').before(element('div', { id: 'done', role: 'status' }));
}

function end() {
    closeDesk();
    page.pick(null);
    byID('done')?.remove();
    byID('edit-bar')?.remove();
}

/** A press on the map says where a new place is; by the keyboard, it is in the map's middle. */
function addPlace() {
    const here = ({ latitude, longitude }) => openNewForm([latitude, longitude]);
    openDesk('Where is the new place?', [
        element('p', {}, 'Press on the map where it is. Its pin can be moved afterwards.'),
        element('p', { class: 'desk-actions' }, button('In the map’s middle', () => here(page.middle()), 'primary')),
    ], { left: () => page.press(null) });
    page.press(here);
}

function showDrafts() {
    const drafts = allDrafts();
    openDesk('Drafts', [
        element('p', { class: 'hint' }, drafts.length === 0 ? 'Nothing is typed and not saved.' : 'What you have typed and not saved, on this device.'),
        element('ul', { class: 'desk-list' }, ...drafts.map(([id, draft]) => element('li', {},
            button(draft.values.name ?? draft.base?.name ?? 'New place', () => attempt(() => (id === 'new' ? openNewForm(null) : openForm(id))), 'link'),
            element('span', { class: 'hint' }, ` ${new Date(draft.savedAt).toLocaleString()}`)))),
    ]);
}

/** What an editor can do with a place. */
function toolsFor(place) {
    const isClosed = place.operatingStatus === 'permanentlyClosed';
    return [
        button('Correct', () => attempt(() => openForm(place.id)), 'primary'), button('Versions', () => attempt(() => showVersions(place.id, place.name))),
        button(isClosed ? 'Mark as open' : 'Mark as closed', () => attempt(() => close(place.id, isClosed))), button('Merge', () => attempt(() => chooseMerge(place.id))),
        button('Remove', () => attempt(() => confirmRemoval(place))),
    ];
}

async function close(id, isClosed) {
    const before = await record(id);
    const after = await correct(id, before.version, { operatingStatus: isClosed ? null : 'permanentlyClosed' });
    await didCorrect(before, after, isClosed ? 'Opened again:' : 'Closed');
}

async function confirmRemoval(place) {
    const current = await record(place.id);
    const status = statusLine();
    openDesk(`Remove ${current.name}?`, [
        element('p', {}, 'It goes from lists and maps, and no import brings it back. You can.'),
        element('p', { class: 'hint' }, 'If it has closed, “Mark as closed” is better: links to it go on working.'), status,
        element('p', { class: 'desk-actions' }, button('Remove', async () => {
            try {
                await remove(place.id, current.version);
            } catch (error) {
                status.textContent = `Not removed: ${error.status === 412 ? 'somebody has changed it meanwhile. Look again.' : error.message}`;
                return;
            }
            closeDesk();
            await didRemove(current);
        }, 'primary'), button('Keep it', closeDesk)),
    ]);
}

offer({ begin, end, toolsFor, openForm: (id) => attempt(() => openForm(id)), isBusy: isDeskOpen });
