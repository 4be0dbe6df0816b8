// The fields of a place's form: each with its rule, what is wrong with it, and what the source says where somebody has corrected it.

import { byID, categoryName, element } from '../elements.js';
import { week, weekTable } from '../hours.js';
import { button } from './desk.js';
import { memberText, memberTitle, statusTexts } from './members.js';

let count = 0;

/**
 * A field for a member. `control` is `{ input, read, write }`, `input` being what has the focus; `read` rejects by a text what can't
 * be sent. `changed` is called when somebody has changed it.
 */
export function field(name, control, { rule = '', title = memberTitle(name), changed }) {
    const id = `member-${(count += 1)}`;
    const { input } = control;
    input.id ||= id;
    const [hint, fault, source] = [
        element('span', { class: 'hint', id: `${id}-rule` }, rule), element('span', { class: 'fault', id: `${id}-fault` }), element('span', { class: 'source' }),
    ];
    input.setAttribute('aria-describedby', [rule && hint.id, fault.id].filter(Boolean).join(' '));
    const made = element('div', { class: 'field', 'data-member': name },
        control.isLabelled ? control.made : element('label', { for: input.id }, title), control.isLabelled ? null : control.made ?? input, rule ? hint : null, fault, source);
    const isFaulty = () => input.getAttribute('aria-invalid') === 'true';
    (control.made ?? input).addEventListener('input', () => {
        if (isFaulty()) self.complain('');
        changed();
    });
    const self = {
        name, made, read: control.read, write: control.write, focus: () => input.focus(),

        /** Says what is wrong, or with an empty text, that nothing is. */
        complain(text) {
            fault.textContent = text;
            input.setAttribute('aria-invalid', String(text !== ''));
        },

        /** Shows what the source says, and a button by which that is shown again; null where there is no correction. */
        showSource(value, reset, isReset) {
            source.replaceChildren(...(value === undefined ? [] : [
                isReset ? 'As the source says: ' : 'The source says: ', memberText(name, value), ' ',
                ...(isReset ? [] : [button('Reset to source', reset, 'link', { 'aria-label': `${title}: reset to source` })]),
            ]));
        },
    };
    return self;
}

const orNull = (text) => (text.trim() === '' ? null : text.trim());

/** A line of text; null where it is empty. */
export function textControl(attributes = {}) {
    const input = element('input', { type: 'text', autocomplete: 'off', ...attributes });
    return { input, read: () => orNull(input.value), write: (value) => { input.value = value ?? ''; } };
}

export function numberControl(attributes) {
    const input = element('input', { type: 'number', step: 1, ...attributes });
    return { input, read: () => Number(input.value), write: (value) => { input.value = value; } };
}

export function checkControl(text) {
    const input = element('input', { type: 'checkbox' });
    return { input, isLabelled: true, made: element('label', { class: 'check' }, input, ' ', text), read: () => input.checked, write: (value) => { input.checked = value; } };
}

export function statusControl() {
    const input = element('select', {}, ...Object.entries(statusTexts).map(([value, text]) => element('option', { value }, text)));
    return { input, read: () => orNull(input.value), write: (value) => { input.value = value ?? ''; } };
}

/** A list of texts, one in each line. */
export function linesControl() {
    const input = element('textarea', { rows: 2 });
    return {
        input, read: () => input.value.split('\n').map((line) => line.trim()).filter(Boolean), write: (value) => { input.value = (value ?? []).join('\n'); },
    };
}

/** A category, by its name or label; what is typed is searched for in both. */
export function categoryControl(categories) {
    const list = byID('category-names') ?? element('datalist', { id: 'category-names' });
    const labelOf = ({ name, label }) => categoryName(name, label);
    list.replaceChildren(...categories.map((category) => element('option', { value: labelOf(category) }, category.name)));
    const input = element('input', { type: 'text', list: 'category-names', autocomplete: 'off', required: true });
    const find = (text) => categories.find(({ name }) => name === text)
        ?? categories.find((category) => labelOf(category).toLowerCase() === text.toLowerCase());
    return {
        input, made: element('span', {}, input, list),
        read() {
            const found = find(input.value.trim());
            if (!found) throw new RangeError('There is no such category.');
            return found.name;
        },
        write(value) {
            const found = categories.find(({ name }) => name === value);
            input.value = found ? labelOf(found) : value ?? '';
        },
    };
}

/** Opening hours as OpenStreetMap writes them, and the week that they are. */
export function hoursControl() {
    const text = textControl({ placeholder: 'Mo-Fr 09:00-18:00; Sa 10:00-14:00' });
    const preview = element('div', { class: 'preview', 'aria-live': 'polite' });
    function draw() {
        const days = text.read() === null ? null : week(text.read());
        preview.replaceChildren(...(days ? [weekTable(days)]
            : text.read() === null ? [] : [element('span', { class: 'hint' }, 'Shown as it is written: this isn’t read as a week.')]));
    }
    text.input.addEventListener('input', draw);
    return { ...text, made: element('div', {}, text.input, preview), write(value) { text.write(value); draw(); } };
}

/** Any JSON: a text, or as JSON what isn't one. */
export function valueControl() {
    const input = element('input', { type: 'text', autocomplete: 'off' });
    const kind = element('select', { 'aria-label': 'Kind of value' }, element('option', { value: 'text' }, 'text'), element('option', { value: 'json' }, 'number, yes/no, list'));
    return {
        input, made: element('span', { class: 'pair' }, input, kind),
        read() {
            if (kind.value === 'text') return orNull(input.value);
            if (input.value.trim() === '') return null;
            try {
                return JSON.parse(input.value);
            } catch {
                throw new RangeError('Write it as JSON: 3, true, ["a", "b"].');
            }
        },
        write(value) {
            const isText = typeof (value ?? '') === 'string';
            kind.value = isText ? 'text' : 'json';
            input.value = isText ? value ?? '' : JSON.stringify(value);
        },
    };
}
