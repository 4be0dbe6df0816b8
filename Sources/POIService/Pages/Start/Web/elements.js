// Elements, and how numbers and names are written. Texts become text nodes: what the data say is shown, never interpreted.

/** The element with an id. */
export const byID = (id) => document.getElementById(id);

/** Makes an element; attributes that are undefined or false are left out, `onclick` and the like are listeners. */
export function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
        else made.setAttribute(key, value === true ? '' : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
    return made;
}

/** A link to another site, or plain text where the address isn't one of the web. */
export function outsideLink(address, text) {
    const isWeb = URL.canParse(address) && ['http:', 'https:'].includes(new URL(address).protocol);
    if (!isWeb) return document.createTextNode(text);
    return element('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, text);
}

/** A category as people read it: its label in their language, or else `conference centre` for `conference_centre`. */
export const categoryName = (name, label) => label ?? name.replaceAll('_', ' ');

export const closedTexts = { temporarilyClosed: 'Temporarily closed', permanentlyClosed: 'Permanently closed' };

/** What says that a place is featured, or closed. */
export function badges({ featured, operatingStatus }) {
    const closed = Object.hasOwn(closedTexts, operatingStatus ?? '') ? closedTexts[operatingStatus] : null;
    return [featured && 'Featured', closed].filter(Boolean).flatMap((text) => [' ', element('span', { class: 'badge' }, text)]);
}

/** A whole number, shortened: 12,345 is `12K`. */
export const shortCount = (count) => new Intl.NumberFormat('en', { notation: 'compact' }).format(count);

/** A number of things: `1 place`, `1,234 places`. */
export function countOf(count, one, many = `${one}s`) {
    return `${new Intl.NumberFormat('en').format(count)} ${count === 1 ? one : many}`;
}

/** Whether distances are in miles where the reader's browser says that they are: in the US, the UK, Liberia and Myanmar. */
export const usesMiles = /-(US|GB|LR|MM)\b/.test(navigator.language);

/** A length in metres, in the reader's units and as exactly as people want it. */
export function distanceText(meters) {
    const [short, perShort, long, perLong] = usesMiles ? ['foot', 0.3048, 'mile', 1609.344] : ['meter', 1, 'kilometer', 1000];
    const isShort = meters / perShort < 999.5;
    const value = meters / (isShort ? perShort : perLong);
    return new Intl.NumberFormat('en', {
        style: 'unit', unit: isShort ? short : long, maximumFractionDigits: isShort || value >= 100 ? 0 : 1,
    }).format(value);
}

/** A coordinate in degrees, as people write it. */
export function coordinateText({ latitude, longitude }) {
    const side = (value, positive, negative) => `${Math.abs(value).toFixed(5)}° ${value < 0 ? negative : positive}`;
    return `${side(latitude, 'N', 'S')}, ${side(longitude, 'E', 'W')}`;
}

/** The coordinate that a text is, as `48.2, 16.37` or `48.2° N, 16.37° E`; null for any other text. */
export function coordinateIn(text) {
    const parts = /^\s*([+-]?\d{1,3}(?:\.\d+)?)\s*°?\s*([NS]?)\s*[,;\s]\s*([+-]?\d{1,3}(?:\.\d+)?)\s*°?\s*([EW]?)\s*$/i.exec(text.replace('−', '-'));
    if (!parts) return null;
    const latitude = Number(parts[1]) * (/s/i.test(parts[2]) ? -1 : 1);
    const longitude = Number(parts[3]) * (/w/i.test(parts[4]) ? -1 : 1);
    return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null;
}

/** A longitude in -180…180, without 180. */
export const wrapped = (longitude) => ((((longitude + 180) % 360) + 360) % 360) - 180;
