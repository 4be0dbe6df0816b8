// What one can choose on the map: clusters with their counts, and places with their names.

import { categoryName, countOf, element, shortCount } from './elements.js';
import { spotSize } from './gather.js';
import { sign } from './signs.js';

/**
 * A cluster's or a place's spot: a button, of which all but one are left out when one tabs. `isClosest` says that a cluster
 * opens as a list.
 */
export function spot(cluster, position, open, isClosest) {
    const { place, count } = cluster;
    const label = place ? `${place.name}, ${categoryName(place.category, place.categoryLabel)}` : `${countOf(count, 'place')}, ${isClosest ? 'list them' : 'zoom in'}`;
    const drawn = place && sign(place.category);
    const kind = place ? `place${place.featured ? ' featured' : ''}${drawn ? ' signed' : ''}` : 'cluster';
    const size = spotSize(cluster);
    const content = place ? [drawn, element('span', { class: 'label' }, place.name)] : [shortCount(count)];
    const { L } = window;
    const icon = L.divIcon({ className: `spot ${kind}`, html: element('span', { class: 'dot' }, ...content), iconSize: [size, size] });
    // A number is never covered by a place of the next cell.
    const made = L.marker(position, { icon, keyboard: false, riseOnHover: true, zIndexOffset: place ? 0 : 500 }).on('click', open);
    made.on('add', () => {
        const button = made.getElement();
        for (const [name, value] of [['role', 'button'], ['tabindex', '-1'], ['aria-label', label]]) button.setAttribute(name, value);
        button.dataset.key = place ? place.id : `${cluster.latitude},${cluster.longitude}`;
        if (place) button.dataset.id = place.id;
        button.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            open();
        });
    });
    return made;
}

/**
 * Lets the arrow keys go from spot to spot: right and left from west to east and back, down and up from north to south and
 * back, so that each way reaches every one.
 */
export function rove(elements, points, first = elements[0]) {
    const axes = { ArrowRight: ['x', 1], ArrowLeft: ['x', -1], ArrowDown: ['y', 1], ArrowUp: ['y', -1] };
    const order = (axis) => elements.map((_, index) => index).sort((one, other) => points[one][axis] - points[other][axis] || one - other);
    const orders = { x: order('x'), y: order('y') };
    elements.forEach((made, index) => {
        made.addEventListener('keydown', (event) => {
            const [axis, step] = axes[event.key] ?? [];
            if (!axis) return;
            event.preventDefault();
            event.stopPropagation();
            const next = elements[orders[axis][orders[axis].indexOf(index) + step]];
            if (!next) return;
            made.setAttribute('tabindex', '-1');
            next.setAttribute('tabindex', '0');
            next.focus({ preventScroll: true });
        });
    });
    first?.setAttribute('tabindex', '0');
}
