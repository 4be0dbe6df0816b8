// A pin that is dragged, or moved by the arrow keys: a metre, or ten with Shift.

import { distanceText, element, wrapped } from '../elements.js';
import { page } from '../editing.js';

/** The Earth's mean radius (IUGG). */
const radius = 6_371_008.8;
const radians = Math.PI / 180;

/** The distance of two positions `[latitude, longitude]` in metres, on a sphere. */
export function metersBetween([north, east], [otherNorth, otherEast]) {
    const [dy, dx] = [(otherNorth - north) * radians, wrapped(otherEast - east) * radians];
    const half = Math.sin(dy / 2) ** 2 + Math.cos(north * radians) * Math.cos(otherNorth * radians) * Math.sin(dx / 2) ** 2;
    return 2 * radius * Math.asin(Math.min(1, Math.sqrt(half)));
}

/** A position that many metres to the north and east of another one, to a centimetre. */
export function movedBy([north, east], [metersNorth, metersEast]) {
    const latitude = Math.max(-90, Math.min(90, north + metersNorth / radius / radians));
    const longitude = wrapped(east + metersEast / radius / radians / Math.max(1e-6, Math.cos(north * radians)));
    return [latitude, longitude].map((degrees) => Number(degrees.toFixed(7)));
}

const steps = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

/** Puts a pin on the map; `moved` is called with its position. `from` is where it was, to which a line is drawn. */
export function putPin({ position, from, name, moved }) {
    const map = page.map()?.surface;
    if (!map) return { move() {}, focus() {}, remove() {} };
    const { L } = window;
    const drawn = ([latitude, longitude]) => page.map().position({ latitude, longitude });
    let at = position;
    const icon = L.divIcon({ className: 'edit-pin', html: element('span'), iconSize: [32, 40], iconAnchor: [16, 38] });
    const pin = L.marker(drawn(at), { icon, draggable: true, autoPan: true, keyboard: false, zIndexOffset: 2000 }).addTo(map);
    const line = L.polyline([], { className: 'edit-line', interactive: false }).addTo(map);

    function draw() {
        pin.setLatLng(drawn(at));
        line.setLatLngs(from ? [drawn(from), drawn(at)] : []);
    }

    function go(next) {
        at = next;
        draw();
        moved(at);
    }

    const made = pin.getElement();
    for (const [attribute, value] of [
        ['role', 'button'], ['tabindex', '0'], ['aria-label', `Pin of ${name}. The arrow keys move it by a metre, with Shift by ten.`],
    ]) made.setAttribute(attribute, value);
    made.addEventListener('keydown', (event) => {
        const [north, east] = steps[event.key] ?? [];
        if (north === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        const length = event.shiftKey ? 10 : 1;
        go(movedBy(at, [north * length, east * length]));
        map.panInside(pin.getLatLng(), { paddingTopLeft: [60, 60], paddingBottomRight: [60, 100], animate: false });
    });
    pin.on('dragend', () => {
        const { lat, lng } = pin.getLatLng();
        go([Number(lat.toFixed(7)), Number(wrapped(lng).toFixed(7))]);
    });
    draw();
    return {
        move(next) { at = next; draw(); },
        focus: () => made.focus({ preventScroll: true }),
        remove() { pin.remove(); line.remove(); },
    };
}

/** How far a place was moved, in words. */
export const movedText = (from, to) => (!from || metersBetween(from, to) < 0.005 ? 'Not moved.' : `Moved by ${distanceText(metersBetween(from, to))}.`);
