// What people report, as a list of work: look, correct, close.

import { coordinateText, element } from '../elements.js';
import { page } from '../editing.js';
import * as service from '../places.js';
import { button } from './desk.js';
import { say } from './done.js';
import { openForm, openNewForm } from './form.js';
import { openReports, settleReport } from './records.js';
import { attempt, showPages } from './versions.js';

const reasons = {
    closed: 'It is closed', moved: 'It is elsewhere', wrong: 'Something is wrong', duplicate: 'It is there twice', missing: 'A place is missing', other: 'Something else',
};

const names = new Map();

/** A page of open reports, and the names of their places. */
async function load(next) {
    const page = await openReports(next);
    const ids = new Set(page.body.map(({ place }) => place).filter((id) => Number.isInteger(id)));
    for (const place of await service.places([...ids])) names.set(place.id, place.name);
    return page;
}

/** Shows the open reports; each goes from the list once it is done or rejected. */
export async function showReports() {
    await showPages('Reports', 'There is no open report.', load, (items, index) => {
        const report = items[index];
        const { id, place, latitude, longitude, reason, text, reportedAt } = report;
        const position = latitude === undefined || latitude === null ? null : { latitude, longitude };
        const note = element('input', { type: 'text', maxlength: 500, autocomplete: 'off', 'aria-label': 'Note', placeholder: 'Note (not needed)' });
        const about = `${reasons[reason] ?? reason}${place ? `: ${names.get(place) ?? `place ${place}, which is gone`}` : ''}`;
        const settle = (status, word) => attempt(async () => {
            await settleReport(id, { status, ...(note.value.trim() ? { note: note.value.trim() } : {}) });
            const row = note.closest('li');
            const next = (row.nextElementSibling ?? row.previousElementSibling)?.querySelector('button');
            row.remove();
            next?.focus();
            say(`${word}: ${about}.`, async () => {
                await settleReport(id, { status: 'open' });
                say('The report is open again.');
                await showReports();
            });
        });
        return [
            element('b', {}, about), element('span', { class: 'hint' }, ` ${new Date(reportedAt).toLocaleString()}`),
            text ? element('p', {}, text) : null, position ? element('p', { class: 'hint' }, coordinateText(position)) : null,
            place || position ? button('Look', () => page.look(place ?? null, position), 'link', { 'aria-label': `Look: ${about}` }) : null,
            place ? button('Correct', () => attempt(() => correctIt(place, position)), 'link', { 'aria-label': `Correct: ${about}` })
                : position ? button('Add a place', () => openNewForm([latitude, longitude]), 'link') : null,
            note, button('Done', () => settle('done', 'Done'), 'link', { 'aria-label': `Done: ${about}` }),
            button('Reject', () => settle('rejected', 'Rejected'), 'link', { 'aria-label': `Reject: ${about}` }),
        ];
    });
}

/** Shows the place, and the form beside the map. */
async function correctIt(place, position) {
    await page.look(place, position);
    await openForm(place);
}
