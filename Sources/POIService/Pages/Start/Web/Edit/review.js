// What an import would do: the report of a dry run, read here and sent nowhere; what is refused is saved as a file for the import.

import { categoryName, distanceText, element } from '../elements.js';
import { page } from '../editing.js';
import { button, openDesk, statusLine } from './desk.js';
import { changedMembers } from './members.js';
import { metersBetween } from './pin.js';
import { changeList } from './versions.js';

const kinds = {
    added: ['+', 'added'], moved: ['→', 'moved'], changed: ['~', 'changed'], removed: ['−', 'removed'], kept: ['=', 'corrections kept'], suppressed: ['∅', 'removed by people'],
    refused: ['×', 'refused before'],
};
/** What an import can be kept from doing. */
const refusable = new Set(['added', 'moved', 'changed', 'removed']);
const perPage = 50;
const maximumLines = 1_000_000;

/** Asks for the file of a report, and shows it. */
export function openReview() {
    const status = statusLine();
    const input = element('input', { id: 'review-file', type: 'file', accept: '.jsonl,.ndjson,.json,.txt,application/x-ndjson' });
    input.addEventListener('change', async () => {
        const [file] = input.files;
        if (!file) return;
        status.textContent = 'Reading…';
        try {
            show(file.name, await read(file));
        } catch (error) {
            if (!(error instanceof RangeError)) throw error;
            status.textContent = error.message;
            input.value = '';
        }
    });
    openDesk('Review an import', [
        element('p', {}, 'A dry run writes a report of what the import would do:'),
        element('pre', { tabindex: 0 }, 'poi import places.csv --dataset cafes --dry-run --report report.jsonl'),
        element('p', {}, 'It is read by this page, and sent nowhere.'),
        element('div', { class: 'field' }, element('label', { for: 'review-file' }, 'The report'), input), status,
    ]);
}

/** Reads a report: what it says of the import, and its items. */
async function read(file) {
    const [items, number] = [[], { line: 0 }];
    let about = null;
    for await (const line of linesOf(file)) {
        number.line += 1;
        if (line.trim() === '') continue;
        if (items.length >= maximumLines) throw new RangeError(`The report has more than ${maximumLines.toLocaleString('en')} lines.`);
        const parsed = parse(line, number.line);
        if (about === null) {
            if (typeof parsed.import?.dataset !== 'string') throw new RangeError('This isn’t the report of an import: its first line doesn’t say which.');
            about = parsed.import;
        } else {
            items.push(itemOf(parsed, number.line));
        }
    }
    if (about === null) throw new RangeError('The file is empty.');
    return { about, items };
}

async function* linesOf(file) {
    const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
    let rest = [];
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const parts = value.split('\n');
        if (parts.length === 1) {
            rest.push(value);
            continue;
        }
        yield rest.join('') + parts[0];
        yield* parts.slice(1, -1);
        rest = [parts.at(-1)];
    }
    if (rest.join('') !== '') yield rest.join('');
}

function parse(line, number) {
    try {
        const parsed = JSON.parse(line);
        if (parsed && typeof parsed === 'object') return parsed;
    } catch { /* It is said below. */ }
    throw new RangeError(`Line ${number} isn’t one of a report.`);
}

function itemOf(parsed, number) {
    const { change, sourceId, name, latitude, longitude } = parsed;
    const isWell = Object.hasOwn(kinds, change) && change !== 'moved' && typeof name === 'string' && ['string', 'undefined'].includes(typeof sourceId);
    if (!isWell) throw new RangeError(`Line ${number} isn’t one of a report.`);
    const { before, after } = changedMembers(membersIn(parsed));
    const isMoved = change === 'changed' && isPosition(before.position) && isPosition(after.position);
    return { parsed, kind: isMoved ? 'moved' : change, name, before, after, position: isPosition([latitude, longitude]) ? [latitude, longitude] : null, isRefused: false };
}

/** The members of a line with their values before and after it. Where a correction is kept, that has the last word. */
function membersIn({ members, change }) {
    const entries = Object.entries(members && typeof members === 'object' ? members : {}).filter(([, values]) => values && typeof values === 'object');
    return Object.fromEntries(change === 'kept' ? entries.map(([name, { source, correction }]) => [name, { before: source, after: correction }]) : entries);
}

const isPosition = (value) => Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'number' && Number.isFinite(part))
    && Math.abs(value[0]) <= 90 && Math.abs(value[1]) <= 180;

function show(fileName, { about, items }) {
    const refusedName = `${fileName.replace(/\.\w+$/, '')}.except.jsonl`;
    let [kind, from] = ['all', 0];
    const counts = new Map();
    for (const item of items) counts.set(item.kind, (counts.get(item.kind) ?? 0) + 1);
    const refused = () => items.filter((item) => item.isRefused);
    const [summary, list] = [element('p', { role: 'status' }), element('ol', { class: 'desk-list review' })];
    const choose = element('select', { id: 'review-kind' }, element('option', { value: 'all' }, `all (${items.length})`),
        ...[...counts].map(([name, count]) => element('option', { value: name }, `${kinds[name][0]} ${kinds[name][1]} (${count})`)));
    choose.addEventListener('change', () => { [kind, from] = [choose.value, 0]; draw(); });
    const [back, on] = [button('Previous', () => turn(-perPage)), button('Next', () => turn(perPage))];
    const save = button('Save what is refused', () => download(refusedName, about, refused()), 'primary');
    const drawing = page.map()?.layer();
    const command = element('pre', { tabindex: 0 });

    openDesk(`Import of ${about.dataset}`, [
        about.isDryRun === false ? element('p', { class: 'fault' }, 'This import was done already: nothing can be refused any more.') : null,
        element('div', { class: 'field' }, element('label', { for: 'review-kind' }, 'Show'), choose), summary, list,
        element('p', { class: 'desk-actions' }, back, on),
        element('p', { class: 'desk-actions' }, save), element('p', { class: 'hint' }, 'The import obeys that file, and checks everything again:'), command,
    ].filter(Boolean), { left: () => drawing?.clear() });
    draw();
    const first = items.find((item) => item.position);
    if (first) page.map()?.approach({ latitude: first.position[0], longitude: first.position[1] }, 12);

    function turn(step) {
        from = Math.max(0, from + step);
        draw();
        list.querySelector('input, button')?.focus();
    }

    function draw() {
        const chosen = kind === 'all' ? items : items.filter((item) => item.kind === kind);
        const shown = chosen.slice(from, from + perPage);
        list.replaceChildren(...shown.map(row));
        drawing?.show(shown.flatMap(marks));
        [back.hidden, on.hidden] = [from === 0, from + perPage >= chosen.length];
        drawSummary(chosen, shown);
    }

    function drawSummary(chosen, shown) {
        const number = refused().length;
        summary.textContent = `${shown.length === 0 ? 'None' : `${from + 1} to ${from + shown.length} of ${chosen.length}`}; ${number} refused.`;
        save.disabled = number === 0;
        command.textContent = `poi import … --dataset ${shellText(about.dataset)} --except ${shellText(refusedName)}`;
    }

    function row(item) {
        const [sign, word] = kinds[item.kind];
        const what = item.kind === 'moved' ? `moved by ${distanceText(metersBetween(item.before.position, item.after.position))}` : word;
        const category = typeof item.parsed.category === 'string' && categoryName(item.parsed.category);
        const coordinate = item.position && { latitude: item.position[0], longitude: item.position[1] };
        const check = refusable.has(item.kind) && about.isDryRun !== false && typeof item.parsed.sourceId === 'string' && element('input', {
            type: 'checkbox', checked: item.isRefused, onchange: (event) => {
                item.isRefused = event.target.checked;
                draw();
                list.children[shownIndex(item)]?.querySelector('input')?.focus();
            },
        });
        return element('li', { class: item.isRefused ? 'refused' : undefined },
            element('span', { class: `mark ${item.kind}`, 'aria-hidden': 'true' }, sign), ' ', element('b', {}, item.name),
            element('span', { class: 'hint' }, ` ${[what, category].filter(Boolean).join(', ')}`), changeList(item.before, item.after),
            item.position ? button('Look', () => page.look(null, coordinate), 'link', { 'aria-label': `Look at ${item.name}` }) : null, ' ',
            check ? element('label', { class: 'check' }, check, 'Refuse ', element('span', { class: 'unseen' }, item.name)) : null);
    }

    const shownIndex = (item) => (kind === 'all' ? items : items.filter((other) => other.kind === kind)).slice(from, from + perPage).indexOf(item);
}

/** A word of a shell's command, whatever is in it (POSIX, Shell Command Language, 2.2.2). */
const shellText = (text) => (/^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What is drawn of an item: where it is, and of a moved one where it was, too. */
function marks(item) {
    if (item.kind === 'moved') return [{ kind: 'moved', sign: '→', from: item.before.position, at: item.after.position }];
    return item.position ? [{ kind: item.kind, sign: kinds[item.kind][0], at: item.position }] : [];
}

/** Has the browser save the refused lines, below the one that says which import they are of. */
function download(name, about, items) {
    const lines = [{ import: { dataset: about.dataset } }, ...items.map(({ parsed }) => parsed)].map((line) => `${JSON.stringify(line)}\n`);
    const address = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
    const link = element('a', { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
