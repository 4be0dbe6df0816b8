// What can be edited of a place, by names as in a record's `sourceValues`: `name`, `names.de`, `properties.phone`. A position is one.

import { closedTexts, coordinateText, distanceText } from '../elements.js';
import { metersBetween } from './pin.js';

const plain = ['name', 'category', 'address', 'website', 'operatingStatus', 'featured', 'importance', 'otherNames'];
const titles = {
    name: 'Name', category: 'Category', position: 'Position', address: 'Address', website: 'Website', operatingStatus: 'Open or closed',
    featured: 'Featured', importance: 'Importance', otherNames: 'Other names', 'properties.opening_hours': 'Opening hours',
    'properties.phone': 'Phone', 'properties.email': 'E-mail',
};
export const statusTexts = { '': 'Nothing known of it being closed', ...closedTexts };

/** What a new place has. */
export const nothing = { name: '', category: '', position: null, address: null, website: null, operatingStatus: null, featured: false, importance: 0, otherNames: [] };

/** A record's members. */
export function membersOf(record) {
    const members = { position: [record.latitude, record.longitude] };
    for (const name of plain) members[name] = record[name];
    for (const group of ['names', 'properties']) {
        for (const [name, value] of Object.entries(record[group])) members[`${group}.${name}`] = value;
    }
    return members;
}

/** What the source says of the members that somebody has corrected. */
export function sourceMembersOf({ sourceValues, latitude, longitude }) {
    const { latitude: north, longitude: east, ...others } = sourceValues;
    return north === undefined && east === undefined ? others : { ...others, position: [north ?? latitude, east ?? longitude] };
}

/** The members that a change has changed, before and after it; of a `place` the coordinate that it hasn't. */
export function changedMembers({ latitude, longitude, ...changes }, place = null) {
    const [before, after] = [{}, {}];
    if (latitude ?? longitude) {
        const position = (when) => [latitude?.[when] ?? place?.latitude, longitude?.[when] ?? place?.longitude];
        [before.position, after.position] = [position('before'), position('after')];
    }
    for (const [name, change] of Object.entries(changes)) {
        // What became of the source's value below a correction shows nowhere.
        if (name.startsWith('source of ')) continue;
        before[name] = change.before ?? null;
        after[name] = change.after ?? null;
    }
    return { before, after };
}

/** Whether two values are the same, whatever the order of their members. */
export function areSame(one, other) {
    return canonical(one ?? null) === canonical(other ?? null);
}

function canonical(value) {
    return JSON.stringify(value, (_, inner) => (inner && typeof inner === 'object' && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1))) : inner));
}

/** The merge patch (RFC 7396) that gives members these values, and shows what the source says of those in `resets`. */
export function patchOf(values, resets = []) {
    const patch = {};
    for (const [name, value] of Object.entries(values)) {
        if (resets.includes(name)) continue;
        const [group, inner] = parts(name);
        if (name === 'position') [patch.latitude, patch.longitude] = value;
        else if (inner === undefined) patch[name] = value;
        else patch[group] = { ...patch[group], [inner]: value };
    }
    if (resets.length > 0) patch.reset = resets.flatMap((name) => (name === 'position' ? ['latitude', 'longitude'] : [name]));
    return patch;
}

/** `['properties', 'a.b']` of `properties.a.b`. */
function parts(name) {
    const [, group, inner] = /^(names|properties)\.(.+)$/s.exec(name) ?? [null, name];
    return [group, inner];
}

/** The member that a pointer (RFC 6901) of a patch is about. */
export function pointedMember(pointer) {
    const names = pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (names[0] === 'latitude' || names[0] === 'longitude') return 'position';
    return ['names', 'properties'].includes(names[0]) && names.length > 1 ? `${names[0]}.${names[1]}` : names[0];
}

/** A member's name as people read it. */
export function memberTitle(name) {
    if (titles[name]) return titles[name];
    const [group, inner] = parts(name);
    return group === 'names' ? `Name (${inner})` : inner ?? name;
}

/** A value as people read it. */
export function memberText(name, value) {
    if (value === null || value === undefined || value === '') return '–';
    if (name === 'position') return value.some((part) => typeof part !== 'number') ? '…' : coordinateText({ latitude: value[0], longitude: value[1] });
    if (name === 'operatingStatus') return statusTexts[value] ?? value;
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.length === 0 ? '–' : value.join('; ');
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What has become of members, on one line: `name “A” → “B”, moved by 12 m`. */
export function changesText(before, after) {
    const texts = Object.keys(after).filter((name) => !areSame(before[name], after[name])).map((name) => {
        if (name === 'position' && before.position && after.position) return `moved by ${distanceText(metersBetween(before.position, after.position))}`;
        return `${memberTitle(name).toLowerCase()} ${quoted(name, before[name])} → ${quoted(name, after[name])}`;
    });
    return texts.length > 4 ? `${texts.slice(0, 4).join(', ')}, and ${texts.length - 4} more` : texts.join(', ');
}

function quoted(name, value) {
    const text = memberText(name, value);
    return text === '–' ? text : `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`;
}
