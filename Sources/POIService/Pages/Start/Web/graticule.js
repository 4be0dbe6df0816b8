// Meridians and parallels with their degrees, so that one sees where one is, where the map has no other background.

import { element, wrapped } from './elements.js';

const steps = [45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005];
const minimumPixels = 110;
/** Here the labels of the meridians are. */
const topMargin = 24;

/** Adds the graticule, which follows the map while it `isNeeded`; returns what draws it anew. */
export function addGraticule(L, map, isNeeded) {
    map.createPane('graticule').style.zIndex = 150;
    const options = { pane: 'graticule', renderer: L.svg({ pane: 'graticule', padding: 0.5 }), interactive: false };
    const lines = L.layerGroup().addTo(map);

    function line(from, to, isMajor) {
        lines.addLayer(L.polyline([from, to], { ...options, className: isMajor ? 'grid major' : 'grid', noClip: true }));
    }

    function label(position, text, side) {
        const icon = L.divIcon({ className: `grid-label ${side}`, html: element('span', {}, text), iconSize: [0, 0] });
        lines.addLayer(L.marker(position, { pane: 'graticule', icon, interactive: false, keyboard: false }));
    }

    function draw() {
        lines.clearLayers();
        if (!isNeeded()) return;
        const pixelsPerDegree = (256 * 2 ** map.getZoom()) / 360;
        const step = steps.findLast((size) => size * pixelsPerDegree >= minimumPixels) ?? steps[0];
        const view = map.getBounds();
        const wide = view.pad(0.5);
        const [south, north] = [Math.max(-85, wide.getSouth()), Math.min(85, wide.getNorth())];
        for (const degrees of multiples(step, wide.getWest(), wide.getEast())) {
            line([south, degrees], [north, degrees], degrees % 180 === 0);
            label([view.getNorth(), degrees], degreesText(wrapped(degrees), step, 'E', 'W'), 'top');
        }
        for (const degrees of multiples(step, south, north)) {
            line([degrees, wide.getWest()], [degrees, wide.getEast()], degrees === 0);
            if (map.latLngToContainerPoint([degrees, 0]).y < topMargin) continue;
            label([degrees, view.getWest()], degreesText(degrees, step, 'N', 'S'), 'left');
        }
    }

    map.on('moveend resize', draw);
    return draw;
}

function multiples(step, from, to) {
    const first = Math.ceil(from / step);
    const count = Math.max(0, Math.floor(to / step) - first + 1);
    return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toFixed(6)));
}

function degreesText(degrees, step, positive, negative) {
    const digits = Math.max(0, Math.ceil(-Math.log10(step)));
    const isPlain = degrees === 0 || degrees === -180;
    return `${Math.abs(degrees).toFixed(digits)}°${isPlain ? '' : ` ${degrees > 0 ? positive : negative}`}`;
}
