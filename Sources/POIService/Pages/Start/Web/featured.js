// The featured places, one at a time: the next one every ten seconds, unless somebody looks closer.

import { byID, categoryName, distanceText, element } from './elements.js';

const milliseconds = 10_000;

/** Makes the strip; `open` is called with the place that is chosen. */
export function createFeatured(open) {
    const strip = byID('featured');
    let places = [];
    let index = 0;
    let isPaused = matchMedia('(prefers-reduced-motion: reduce)').matches;

    function draw() {
        strip.hidden = places.length === 0;
        if (strip.hidden) return;
        const place = places[index];
        const hasFocus = byID('featured-place').contains(document.activeElement);
        const distance = place.distance === undefined ? '' : `, ${distanceText(place.distance)}`;
        byID('featured-place').replaceChildren(element(
            'button', { type: 'button', 'data-id': place.id, onclick: () => open(place) },
            element('span', { class: 'badge' }, 'Featured'), ' ',
            element('span', { class: 'name' }, place.name), ' ',
            element('span', { class: 'kind' }, categoryName(place.category, place.categoryLabel) + distance),
        ));
        if (hasFocus) focus();
        strip.classList.toggle('single', places.length === 1);
    }

    const focus = () => byID('featured-place').querySelector('button')?.focus({ preventScroll: true });

    function move(step) {
        index = (index + step + places.length) % places.length;
        draw();
    }

    function drawPause() {
        byID('featured-pause').textContent = isPaused ? '▸' : 'II';
        byID('featured-pause').setAttribute('aria-label', isPaused ? 'Move on by itself' : 'Stop moving on');
        // What moves by itself isn't read out; what somebody moves is.
        byID('featured-place').setAttribute('aria-live', isPaused ? 'polite' : 'off');
    }

    byID('featured-back').addEventListener('click', () => move(-1));
    byID('featured-on').addEventListener('click', () => move(1));
    byID('featured-pause').addEventListener('click', () => {
        isPaused = !isPaused;
        drawPause();
    });
    setInterval(() => {
        if (isPaused || places.length < 2 || strip.matches(':hover, :focus-within')) return;
        move(1);
    }, milliseconds);
    drawPause();

    return {
        focus,

        /** Shows these places, and goes on with the one that is shown if it is among them. */
        show(next) {
            const shown = places[index]?.id;
            places = next;
            index = Math.max(0, places.findIndex((place) => place.id === shown));
            draw();
        },
    };
}
