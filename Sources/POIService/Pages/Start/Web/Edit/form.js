// The form by which a place is corrected or made. What is typed is kept at once, as a draft.

import { Problem, Unreachable } from '../api.js';
import { coordinateIn, element } from '../elements.js';
import { page } from '../editing.js';
import { settle } from './conflict.js';
import { button, closeDesk, fold, isOnDesk, openDesk, statusLine } from './desk.js';
import { didCorrect, didCreate } from './done.js';
import { draftOf, dropDraft, keepDraft } from './drafts.js';
import { categoryControl, checkControl, field, hoursControl, linesControl, numberControl, statusControl, textControl, valueControl } from './fields.js';
import { areSame, membersOf, nothing, patchOf, pointedMember, sourceMembersOf } from './members.js';
import { movedText, putPin } from './pin.js';
import { correct, create, newKey, record } from './records.js';

/** Opens the form of a place, with what was typed of it before. Where the place has changed since then, both are shown. */
export async function openForm(id) {
    const current = await record(id);
    const draft = draftOf(id);
    if (draft && draft.base.version !== current.version) {
        return settle({ current, base: membersOf(draft.base), mine: draft.values, resets: draft.resets, mineTitle: 'Your draft', draft: id, written: didCorrect });
    }
    show({ id, base: current, values: {}, resets: [], requestKey: null, ...draft }, draft?.savedAt);
}

/** Opens the form of a new place at a position, or with null, of the draft of one. */
export function openNewForm(position) {
    const draft = draftOf('new');
    const elsewhere = position && { requestKey: null, values: { ...draft?.values, position } };
    show({ id: 'new', base: null, values: {}, resets: [], requestKey: null, ...draft, ...elsewhere }, draft?.savedAt);
}

function show(draft, savedAt) {
    const { id, base } = draft;
    const isNew = base === null;
    const before = isNew ? nothing : membersOf(base);
    const source = isNew ? {} : sourceMembersOf(base);
    const status = statusLine();
    const fields = new Map();
    const value = (name) => (name in draft.values ? draft.values[name] : before[name]);
    const position = () => value('position');
    const moved = element('span', { class: 'moved', role: 'status' });
    let pin = null;

    /** Takes what is in a field into the draft. */
    function changed(name) {
        let read;
        try {
            read = fields.get(name).read();
        } catch {
            return;
        }
        set(name, read);
    }

    function set(name, next) {
        if (areSame(next, value(name))) return;
        if (areSame(next, before[name])) delete draft.values[name];
        else draft.values[name] = next;
        draft.resets = draft.resets.filter((reset) => reset !== name);
        keep();
        drawSource(name);
    }

    function keep() {
        // What is sent from now on is another request.
        draft.requestKey = null;
        if (Object.keys(draft.values).length === 0 && draft.resets.length === 0) dropDraft(id);
        else keepDraft(id, draft);
    }

    function drawSource(name) {
        fields.get(name)?.showSource(source[name], () => reset(name), draft.resets.includes(name));
    }

    function reset(name) {
        draft.values[name] = source[name];
        draft.resets = [...draft.resets.filter((other) => other !== name), name];
        fields.get(name).write(source[name]);
        if (name === 'position') place(source.position);
        keep();
        drawSource(name);
        fields.get(name).focus();
    }

    function add(name, control, options = {}) {
        const made = field(name, control, { ...options, changed: () => changed(name) });
        fields.set(name, made);
        made.write(value(name));
        drawSource(name);
        return made.made;
    }

    /** Puts the pin, and says how far the place is moved. */
    function place(at) {
        pin?.move(at);
        moved.textContent = isNew || !at ? '' : movedText(before.position, at);
    }

    function positionControl() {
        const text = textControl({ required: true, inputmode: 'text' });
        return {
            ...text, made: element('span', { class: 'pair' }, text.input, button('Move the pin', movePin)),
            read() {
                const found = coordinateIn(text.input.value);
                if (!found) throw new RangeError('A latitude and a longitude in degrees, such as 48.2, 16.37.');
                // What is shown is as exact as what is kept.
                const at = [found.latitude, found.longitude];
                place(at);
                return at;
            },
            write(at) { text.input.value = at ? at.map(plainNumber).join(', ') : ''; },
        };
    }

    function movePin() {
        fold(true);
        page.map()?.approach({ latitude: position()[0], longitude: position()[1] }, 17);
        pin?.focus();
    }

    function movedByHand(at) {
        fields.get('position').write(at);
        set('position', at);
        place(at);
    }

    /** Rows for what there can be any number of: names by language, properties. */
    function rows(group, title, nameTitle, makeControl, rule, without) {
        const list = element('div', { class: 'rows' });
        const isRow = (name) => name.startsWith(`${group}.`) && !without.includes(name);
        const addRow = (name) => {
            const control = makeControl();
            const made = add(name, control, { title: name.slice(group.length + 1) });
            made.append(button('×', () => {
                control.write(null);
                set(name, null);
                fields.delete(name);
                made.remove();
                adder.focus();
            }, 'remove', { 'aria-label': `Take ${title.toLowerCase()} ${name.slice(group.length + 1)} away` }));
            list.append(made);
            return fields.get(name);
        };
        const adder = element('input', { type: 'text', autocomplete: 'off', 'aria-label': nameTitle, placeholder: nameTitle });
        const addNew = () => {
            const name = `${group}.${adder.value.trim()}`;
            if (adder.value.trim() === '') return adder.focus();
            (fields.get(name) ?? addRow(name)).focus();
            adder.value = '';
        };
        adder.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            addNew();
        });
        for (const name of new Set([...Object.keys(before), ...Object.keys(draft.values), ...Object.keys(source)])) {
            if (isRow(name) && ((value(name) ?? null) !== null || name in source)) addRow(name);
        }
        return element('fieldset', {}, element('legend', {}, title), rule ? element('p', { class: 'hint' }, rule) : null, list,
            element('span', { class: 'pair' }, adder, button('Add', addNew)));
    }

    const known = ['properties.opening_hours', 'properties.phone', 'properties.email'];
    // What isn't a text, though it mostly is.
    const textOrOther = (name, attributes) => (typeof (value(name) ?? '') === 'string' ? textControl(attributes) : valueControl());
    const hours = typeof (value(known[0]) ?? '') === 'string' ? hoursControl() : valueControl();
    const form = element('form', { novalidate: true, onsubmit: save },
        add('name', textControl({ required: true, maxlength: 200 }), { rule: 'One line of at most 200 characters.' }),
        add('category', categoryControl(page.categories()), { rule: 'Type to search among the categories.' }),
        add('position', positionControl(), { rule: 'Latitude and longitude in degrees; or drag the pin on the map.' }), moved,
        add('address', textControl({ maxlength: 300 }), { rule: 'One line of at most 300 characters.' }),
        add('website', textControl({ type: 'url', maxlength: 2048 }), { rule: 'An address that begins with https:// or http://.' }),
        add(known[0], hours, { rule: 'As OpenStreetMap writes them, with ; between rules.' }),
        add(known[1], textOrOther(known[1], { type: 'tel' })), add(known[2], textOrOther(known[2], { type: 'email' })),
        add('operatingStatus', statusControl()),
        add('featured', checkControl('Featured: shown first')),
        add('importance', numberControl({ min: 0, max: 1000 }), { rule: 'Among others that a search finds, 0 to 1000.' }),
        rows('names', 'Names by language', 'Language, such as de', () => textControl({ maxlength: 200 }), '', []),
        add('otherNames', linesControl(), { rule: 'Searched for and never shown, one in each line.' }),
        rows('properties', 'Properties', 'Name, such as wheelchair', valueControl, '', known),
        status,
        element('p', { class: 'desk-actions' }, element('button', { type: 'submit', class: 'primary' }, isNew ? 'Add this place' : 'Save'), button('Discard', discard)));
    form.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });

    openDesk(isNew ? 'New place' : `Correct ${base.name}`, [
        savedAt ? element('p', { class: 'hint' }, `With what you typed at ${new Date(savedAt).toLocaleString()} and didn’t save.`) : null, form,
    ].filter(Boolean), { left() { pin?.remove(); removeEventListener('online', again); page.hidePin(false); } });
    if (position()) pin = putPin({ position: position(), from: isNew ? null : before.position, name: value('name') || 'the new place', moved: movedByHand });
    page.hidePin(true);
    place(position());

    let isAgain = false;
    const again = () => { if (isAgain) form.requestSubmit(); };
    addEventListener('online', again);

    function discard() {
        dropDraft(id);
        closeDesk();
    }

    async function save(event) {
        event.preventDefault();
        isAgain = false;
        if (form.dataset.saving !== undefined) return;
        if (!readAll()) return;
        if (!isNew && Object.keys(draft.values).length === 0) return discard();
        draft.requestKey ??= newKey();
        keepDraft(id, draft);
        form.dataset.saving = '';
        status.textContent = 'Saving…';
        try {
            const place = isNew ? await create(patchOf(filled(draft.values)), draft.requestKey)
                : await correct(id, base.version, patchOf(draft.values, draft.resets), draft.requestKey);
            dropDraft(id);
            if (isOnDesk(form)) closeDesk();
            await (isNew ? didCreate(place) : didCorrect(base, place));
        } catch (error) {
            await refuse(error);
        } finally {
            delete form.dataset.saving;
        }
    }

    /** Reads all fields; what can't be sent is said beside it. */
    function readAll() {
        let first = null;
        for (const [name, made] of fields) {
            try {
                made.complain('');
                const read = made.read();
                if (name === 'name' && read === null) throw new RangeError('A place has a name.');
                if (!draft.resets.includes(name)) set(name, read);
            } catch (error) {
                if (!(error instanceof RangeError)) throw error;
                made.complain(error.message);
                first ??= made;
            }
        }
        if (first) status.textContent = 'Nothing is saved yet: see what is marked.';
        first?.focus();
        return first === null;
    }

    async function refuse(error) {
        if (error instanceof Unreachable) {
            isAgain = true;
            status.textContent = 'Not saved: the service can’t be reached. What you typed is kept, and sent once the network is back.';
            return;
        }
        if (!(error instanceof Problem)) throw error;
        if (error.status === 412) return settle({ current: await record(id), base: before, mine: draft.values, resets: draft.resets, draft: id, written: didCorrect });
        let first = null;
        for (const { pointer, detail } of error.document.errors ?? []) {
            const made = fields.get(pointedMember(pointer ?? ''));
            made?.complain(sentence(detail));
            first ??= made;
        }
        status.textContent = first ? 'Nothing is saved yet: see what is marked.' : `Not saved: ${error.message} What you typed is kept.`;
        first?.focus();
    }
}

/** Without an exponent. */
const plainNumber = (degrees) => (String(degrees).includes('e') ? degrees.toFixed(9) : String(degrees));
const filled = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/\.\.$/, '.');
