// Opening hours as OpenStreetMap writes them, laid out as a week where they are simple enough.

import { element } from './elements.js';

const days = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];
const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const times = /^\d{1,2}:\d{2} ?- ?\d{1,2}:\d{2}( ?, ?\d{1,2}:\d{2} ?- ?\d{1,2}:\d{2})*$/;

/**
 * What each of the seven days has, from Monday on: hours as `09:00–17:00, 18:00–20:00`, or `closed`. A rule takes the place of those
 * before it, and holidays are left out. Null for anything that says more: months, weeks, comments, sunset.
 */
export function week(text) {
    const open = new Array(7).fill('closed');
    let isAnyDay = false;
    for (const rule of text.split(';').map((part) => part.trim()).filter(Boolean)) {
        if (rule === '24/7') {
            open.fill('all day');
            isAnyDay = true;
            continue;
        }
        const parts = /^((?:Mo|Tu|We|Th|Fr|Sa|Su|PH|SH)(?:[-, ]*(?:Mo|Tu|We|Th|Fr|Sa|Su|PH|SH))*)?\s*(.+)$/.exec(rule);
        const hours = /^(off|closed)$/.test(parts?.[2] ?? '') ? 'closed' : parts && hoursIn(parts[2]);
        const meant = parts && daysIn(parts[1]);
        if (!hours || !meant) return null;
        for (const day of meant) open[day] = hours;
        isAnyDay ||= meant.length > 0;
    }
    return isAnyDay ? open : null;
}

/** A table of what the days have; `today` is the number of one that stands out. */
export function weekTable(hours, today = null) {
    return element('table', { class: 'week' }, element('tbody', {}, ...dayNames.map((name, day) => element(
        'tr', { class: day === today && 'today' }, element('th', { scope: 'row' }, name), element('td', {}, hours[day])))));
}

/** Hours of a day; null where they aren't only that. */
function hoursIn(text) {
    if (!times.test(text)) return null;
    const [from, to] = ['00:00', '24:00'];
    const parts = text.split(',').map((part) => part.split('-').map((time) => time.trim().padStart(5, '0')));
    const areTimes = parts.flat().every((time) => Number(time.slice(0, 2)) <= 26 && Number(time.slice(3)) < 60);
    if (!areTimes) return null;
    return parts.map(([one, other]) => (one === from && other === to ? 'all day' : `${one}–${other}`)).join(', ');
}

/** The numbers of the days of `Mo-Fr, Su`, without holidays; all where there are none; null where that can't be read. */
function daysIn(text) {
    if (text === undefined) return days.map((_, index) => index);
    const found = [];
    for (const part of text.split(/\s*,\s*/)) {
        const [first, last = first, ...rest] = part.split(/\s*-\s*/);
        if (rest.length > 0 || (part.includes('-') && !days.includes(last))) return null;
        if (first === 'PH' || first === 'SH') continue;
        if (!days.includes(first)) return null;
        for (let day = days.indexOf(first); ; day = (day + 1) % 7) {
            found.push(day);
            if (day === days.indexOf(last)) break;
        }
    }
    return found;
}
