// What one can choose on the map: clusters with their counts, and places with their names.

import { categoryName, countOf, element, shortCount } from './elements.js';

/** A cluster's or a place's spot: a button, of which all but one are left out when one tabs. */
export function spot(cluster, position, open) {
    const { place, count } = cluster;
    const label = place ? `${place.name}, ${categoryName(place.category)}` : `${countOf(count, 'place')}, zoom in`;
    const kind = place ? (place.featured ? 'place featured' : 'place') : 'cluster';
    const size = place ? 24 : Math.round(24 + 4 * Math.log10(count));
    const content = place ? element('span', { class: 'label' }, place.name) : document.createTextNode(shortCount(count));
    const { L } = window;
    const icon = L.divIcon({ className: `spot ${kind}`, html: element('span', { class: 'dot' }, content), iconSize: [size, size] });
    // A number is never covered by a place of the next cell.
    const made = L.marker(position, { icon, keyboard: false, riseOnHover: true, zIndexOffset: place ? 0 : 500 }).on('click', open);
    made.on('add', () => {
        const button = made.getElement();
        for (const [name, value] of [['role', 'button'], ['tabindex', '-1'], ['aria-label', label]]) button.setAttribute(name, value);
        button.dataset.name = label;
        if (place) button.dataset.id = place.id;
        button.addEventListener('keydown', (event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            open();
        });
    });
    return made;
}

/** Lets the arrow keys go from spot to spot, to the nearest one in the arrow's direction. */
export function rove(elements, first = elements[0]) {
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const middle = (made) => {
        const { left, top, width, height } = made.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
    };
    function focus(next, previous) {
        previous?.setAttribute('tabindex', '-1');
        next.setAttribute('tabindex', '0');
    }
    for (const made of elements) {
        made.addEventListener('keydown', (event) => {
            const direction = directions[event.key];
            if (!direction) return;
            event.preventDefault();
            event.stopPropagation();
            const [x, y] = middle(made);
            let best = { cost: Infinity };
            for (const other of elements) {
                const [dx, dy] = [middle(other)[0] - x, middle(other)[1] - y];
                const ahead = dx * direction[0] + dy * direction[1];
                const aside = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
                if (ahead > 1 && ahead + 2 * aside < best.cost) best = { cost: ahead + 2 * aside, other };
            }
            if (!best.other) return;
            focus(best.other, made);
            best.other.focus();
        });
    }
    if (first) focus(first);
    if (first && first !== elements[0]) first.focus();
}
