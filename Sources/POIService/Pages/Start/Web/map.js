// The map: the tiles or a graticule, clusters and places, the marker that distances are from, the place that is open.

import { element, wrapped } from './elements.js';
import { addGraticule } from './graticule.js';
import { layOutLabels } from './labels.js';
import { rove, spot } from './spots.js';

const L = window.L;
const maximumLatitude = 85.0511;
const closestZoom = 19;
const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Whether Leaflet is there, without which there is no map. */
export const hasMap = L !== undefined;

/**
 * Makes the map. `handlers`: `moved` and `resized`, `opened` with a place, `marked` with a coordinate, `listed` with one
 * that has more places than can be drawn.
 */
export function createMap(container, settings, handlers) {
    const map = L.map(container, {
        zoomControl: false, attributionControl: false, minZoom: 2, maxZoom: closestZoom, worldCopyJump: true,
        maxBounds: [[-maximumLatitude, -1e6], [maximumLatitude, 1e6]], maxBoundsViscosity: 1,
        zoomAnimation: !isCalm, fadeAnimation: !isCalm, markerZoomAnimation: !isCalm, inertia: !isCalm,
    });
    if (settings.tiles) L.tileLayer(settings.tiles, { maxZoom: closestZoom }).addTo(map);
    else addGraticule(L, map);
    L.control.scale({ imperial: false, position: 'bottomright' }).addTo(map);

    let isPlaced = false;
    const spots = L.layerGroup().addTo(map);
    const pin = movableMarker(map, 'pin');
    const marker = movableMarker(map, 'marker', { draggable: true, title: 'Distances are from this marker' });
    marker.pin.on('dragend', () => handlers.marked(coordinateOf(marker.pin.getLatLng())));
    map.on('moveend', handlers.moved).on('resize', handlers.resized);
    new ResizeObserver(() => map.invalidateSize({ animate: false })).observe(container);
    map.on('contextmenu', (event) => handlers.marked(coordinateOf(event.latlng)));

    /** The position that is drawn: on the side of the antimeridian that is in view, and never beyond the map's edge. */
    function position({ latitude, longitude }) {
        const middle = map.getCenter().lng;
        const clamped = Math.max(-maximumLatitude, Math.min(maximumLatitude, latitude));
        return [clamped, middle + wrapped(longitude - middle)];
    }

    function showBox([west, south, east, north], { animate = !isCalm } = {}) {
        const { 1: left } = position({ latitude: 0, longitude: west });
        const width = east < west ? east + 360 - west : east - west;
        map.fitBounds([[south, left], [north, left + width]], { padding: [48, 48], maxZoom: 16, animate });
    }

    function openCluster(cluster) {
        if (cluster.place) return handlers.opened(cluster.place);
        const [west, south, east, north] = cluster.bbox;
        if (map.getZoom() === closestZoom || (west === east && south === north)) return handlers.listed(cluster);
        showBox(cluster.bbox);
    }

    return {
        /** What the map shows: its middle and zoom. */
        get at() {
            return { ...coordinateOf(map.getCenter()), zoom: map.getZoom() };
        },

        /** The box in view, `[west, south, east, north]`, which may cross the antimeridian. */
        get box() {
            const bounds = map.getBounds();
            const south = bounds.getSouth() <= -maximumLatitude + 0.01 ? -90 : bounds.getSouth();
            const north = bounds.getNorth() >= maximumLatitude - 0.01 ? 90 : bounds.getNorth();
            const isWhole = bounds.getEast() - bounds.getWest() >= 360;
            // An east of 180 stays 180.
            const [west, east] = isWhole ? [-180, 180] : [wrapped(bounds.getWest()), -wrapped(-bounds.getEast())];
            return [west, south, east, north].map((value) => Number(value.toFixed(5)));
        },

        /** Shows a middle and zoom, unless the map does already. */
        move(at) {
            if (isPlaced && JSON.stringify(this.at) === JSON.stringify(at)) return;
            isPlaced = true;
            map.setView([at.latitude, at.longitude], at.zoom, { animate: false });
        },

        showBox,
        zoom: (steps) => map.setZoom(map.getZoom() + steps),

        /** Brings a coordinate into view, if it isn't, above an element that may cover a part of the map. */
        reveal(coordinate, cover) {
            const [view, covering] = [container.getBoundingClientRect(), cover.getBoundingClientRect()];
            const isCovered = !cover.hidden && covering.left < view.right && view.left < covering.right;
            const covered = isCovered ? Math.max(0, view.bottom - covering.top) : 0;
            map.panInside(position(coordinate), {
                paddingTopLeft: [40, 60], paddingBottomRight: [60, 40 + covered], animate: !isCalm,
            });
        },

        /** Shows clusters and places instead of those that were there; the focus stays where it was. */
        show(clusters) {
            const focused = document.activeElement?.closest('.spot')?.dataset.name;
            spots.clearLayers();
            for (const cluster of clusters) spots.addLayer(spot(cluster, position(cluster), () => openCluster(cluster)));
            const elements = spots.getLayers().map((layer) => layer.getElement());
            const points = spots.getLayers().map((layer) => map.latLngToContainerPoint(layer.getLatLng()));
            layOutLabels(elements, points, map.getSize().x);
            rove(elements, elements.find((made) => made.dataset.name === focused));
        },

        select: (place) => pin.put(place && position(place)),
        mark: (coordinate) => marker.put(coordinate && position(coordinate)),

        /** Draws the eye to a place of the list. */
        highlight(id) {
            for (const made of container.querySelectorAll('.spot')) made.classList.toggle('lit', made.dataset.id === id);
        },
    };
}

function coordinateOf(position) {
    return { latitude: Number(position.lat.toFixed(5)), longitude: Number(wrapped(position.lng).toFixed(5)) };
}

/** A marker that is there only while it has a position. */
function movableMarker(map, name, options = {}) {
    const pin = L.marker([0, 0], {
        icon: L.divIcon({ className: name, html: element('span'), iconSize: [28, 36], iconAnchor: [14, 34] }),
        keyboard: false, interactive: Boolean(options.draggable), zIndexOffset: 1000, ...options,
    });
    return {
        pin,
        put(position) {
            if (!position) return pin.remove();
            pin.setLatLng(position).addTo(map);
            pin.getElement().setAttribute('aria-hidden', 'true');
        },
    };
}
