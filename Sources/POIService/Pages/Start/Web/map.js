// The map: the tiles or a graticule, clusters and places, the marker that distances are from, the place that is open.

import { element, usesMiles, wrapped } from './elements.js';
import { addBaseMap, closestBaseMap } from './basemap.js';
import { gathered } from './gather.js';
import { addGraticule } from './graticule.js';
import { layOutLabels } from './labels.js';
import { closestZoom, limited, maximumLatitude, smallestZoom, viewOf } from './mercator.js';
import { rove, spot } from './spots.js';

const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * Loads Leaflet, which draws the map, and the map's style; rejects where there is no Leaflet.
 *
 * The page's own style and script come before, and what it asks the service for; so the page is seen, and the list
 * has places, while Leaflet is on its way.
 */
export async function loadLeaflet({ style, script }) {
    const load = (made) => new Promise((resolve, reject) => {
        made.addEventListener('load', resolve);
        made.addEventListener('error', () => reject(new Error('Leaflet can’t be loaded.')));
        // Its rules come first, so that the page's have the last word.
        document.querySelector('style').before(made);
    });
    const styled = load(element('link', { rel: 'stylesheet', href: style }));
    if (!script) throw new Error('There is no Leaflet.');
    trust(script);
    await Promise.all([styled, load(element('script', { src: script }))]);
}

/**
 * With Trusted Types, no string becomes a script or markup but for Leaflet: the script's address, what is text anyway, and
 * that by which newer ones find out whether the browser draws SVG.
 */
function trust(script) {
    globalThis.trustedTypes?.createPolicy('default', {
        createScriptURL: (url) => (url === script ? url : null), createHTML: (markup) => (markup === '<svg/>' || !/[<&]/.test(markup) ? markup : null),
    });
}

/**
 * Makes the map. `handlers`: `moved` and `resized`, `opened` with a place, `marked` and `pressed` with a coordinate, `listed` with one
 * that has more places than can be drawn.
 */
export function createMap(container, settings, handlers) {
    const { L } = window;
    const map = L.map(container, {
        zoomControl: false, attributionControl: false, maxZoom: closestZoom, worldCopyJump: true,
        maxBounds: [[-maximumLatitude, -1e6], [maximumLatitude, 1e6]], maxBoundsViscosity: 1,
        zoomAnimation: !isCalm, fadeAnimation: !isCalm, markerZoomAnimation: !isCalm, inertia: !isCalm,
    });
    if (settings.tiles) addTiles(map, settings);
    L.control.scale({ imperial: usesMiles, metric: !usesMiles, position: 'bottomright' }).addTo(map);

    let isPlaced = false;
    /** Whether a move begins or is under way that shows something, and that nobody has made by hand. */
    let [beginsByItself, movesByItself] = [false, false];
    let [isBaseMapAsked, hasBaseMap] = [false, false];
    const drawGraticule = settings.tiles ? null : addGraticule(L, map, () => !hasBaseMap || map.getZoom() > closestBaseMap);
    const spots = L.layerGroup().addTo(map);
    const pin = movableMarker(map, 'pin');
    const marker = movableMarker(map, 'marker', { draggable: true, title: 'Distances are from this marker' });
    marker.pin.on('dragend', () => handlers.marked(coordinateOf(marker.pin.getLatLng())));
    map.on('movestart', () => { movesByItself = beginsByItself; });
    map.on('moveend', () => handlers.moved(!movesByItself)).on('resize', handlers.resized);
    // With Shift, which a plus needs on many keyboards, Leaflet zooms three steps at once.
    container.addEventListener('keydown', (event) => {
        const steps = { '+': 1, '-': -1, _: -1 }[event.key];
        if (!steps || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        zoom(steps);
    }, { capture: true });
    const sizeOf = () => [container.clientWidth, container.clientHeight];
    new ResizeObserver(() => {
        map.setMinZoom(smallestZoom(sizeOf()));
        map.invalidateSize({ animate: false });
    }).observe(container);
    map.on('contextmenu', (event) => handlers.marked(coordinateOf(event.latlng)));
    map.on('click', (event) => handlers.pressed({ latitude: Number(event.latlng.lat.toFixed(7)), longitude: Number(wrapped(event.latlng.lng).toFixed(7)) }));

    /** The position that is drawn: on the side of the antimeridian that is in view, and never beyond the map's edge. */
    function position({ latitude, longitude }) {
        const middle = map.getCenter().lng;
        const clamped = Math.max(-maximumLatitude, Math.min(maximumLatitude, latitude));
        return [clamped, middle + wrapped(longitude - middle)];
    }

    /** Beyond the map's edges there is what is at them, where that can be in view. */
    function drawBeyond() {
        container.dataset.beyond = map.getZoom() > closestBaseMap ? 'plain' : map.getZoom() > 2 ? 'sea' : 'poles';
    }

    const zoom = (steps) => map.setZoom(map.getZoom() + steps);

    /** Does what may move the map; the end of such a move, which may be animated, is none by hand. */
    function byItself(work) {
        beginsByItself = true;
        work();
        beginsByItself = false;
    }

    function show(at, animate) {
        map.setView(position(at), at.zoom, { animate });
    }

    /** Whether a closer map wouldn't tell its places apart. */
    function isClosest({ bbox: [west, south, east, north] }) {
        return map.getZoom() === closestZoom || (west === east && south === north);
    }

    function openCluster(cluster) {
        if (cluster.place) return handlers.opened(cluster.place);
        if (isClosest(cluster)) return handlers.listed(cluster);
        show(viewOf(cluster.bbox, sizeOf()), !isCalm);
    }

    return {
        /** What the map shows: its middle and zoom. */
        get at() {
            return { ...coordinateOf(map.getCenter()), zoom: map.getZoom() };
        },

        /** Shows a middle and zoom, unless the map does already. */
        move(at) {
            const wanted = limited(at, sizeOf());
            if (isPlaced && JSON.stringify(this.at) === JSON.stringify(wanted)) return;
            isPlaced = true;
            map.setView([wanted.latitude, wanted.longitude], wanted.zoom, { animate: false });
        },

        /** Adds the base map, unless there are tiles; without it the graticule stays. */
        async addBackground() {
            if (settings.tiles || isBaseMapAsked) return;
            isBaseMapAsked = true;
            try {
                await addBaseMap(L, map, settings.baseMap);
                hasBaseMap = true;
                map.on('zoomend', drawBeyond);
                drawBeyond();
                drawGraticule();
            } catch {
                isBaseMapAsked = false;
            }
        },

        zoom,

        /** Brings a coordinate into view, above an element that may cover a part of the map; a far one in the middle. */
        reveal(coordinate, cover) {
            if (!map.getBounds().contains(position(coordinate))) {
                byItself(() => map.setView(position(coordinate), Math.max(map.getZoom(), 12), { animate: false }));
            }
            const [view, covering] = [container.getBoundingClientRect(), cover.getBoundingClientRect()];
            const isCovered = !cover.hidden && covering.left < view.right && view.left < covering.right;
            const covered = isCovered ? Math.max(0, view.bottom - covering.top) : 0;
            byItself(() => map.panInside(position(coordinate), {
                paddingTopLeft: [40, 60], paddingBottomRight: [60, 40 + covered], animate: !isCalm,
            }));
        },

        /** Shows clusters and places instead of those that were there; the focus stays where it was. */
        show(clusters) {
            const focused = document.activeElement?.closest('.spot')?.dataset.key;
            spots.clearLayers();
            for (const cluster of gathered(clusters, (cluster) => map.latLngToContainerPoint(position(cluster)))) {
                const made = spot(cluster, position(cluster), () => openCluster(cluster), !cluster.place && isClosest(cluster));
                spots.addLayer(made);
                // What has the focus is in view.
                made.getElement().addEventListener('focus', () => byItself(() => map.panInside(made.getLatLng(), { padding: [40, 40], animate: false })));
            }
            const elements = spots.getLayers().map((layer) => layer.getElement());
            const points = spots.getLayers().map((layer) => map.latLngToContainerPoint(layer.getLatLng()));
            layOutLabels(elements, points, map.getSize().x);
            const same = elements.find((made) => made.dataset.key === focused);
            rove(elements, points, same);
            // A cluster may have become others.
            if (focused !== undefined) (same ?? container).focus({ preventScroll: true });
        },

        /** Gives the focus to a place, or where it isn't shown, to the map. */
        focus: (id) => (container.querySelector(`.spot[data-id="${CSS.escape(id)}"]`) ?? container).focus({ preventScroll: true }),

        /** Marks a place; where an editor moves it, another pin does. */
        select: (place) => pin.put(place && position(place)),

        /** What editors draw on. */
        surface: map,
        position,

        /** Brings a coordinate into view, and closer. */
        approach(coordinate, closest) {
            byItself(() => map.setView(position(coordinate), Math.max(map.getZoom(), closest), { animate: false }));
        },

        /** A layer for the marks of a list: `{ kind, sign, at, from }`, `from` being where it was before. */
        layer() {
            const marks = L.layerGroup().addTo(map);
            container.dataset.marked = '';
            const mark = ([latitude, longitude], kind, sign) => L.marker(position({ latitude, longitude }), {
                icon: L.divIcon({ className: 'review-mark', html: element('span', { class: `mark ${kind}` }, sign), iconSize: [22, 22] }),
                interactive: false, keyboard: false, zIndexOffset: 1500,
            });
            return {
                show(items) {
                    marks.clearLayers();
                    for (const { kind, sign, at, from } of items) {
                        const drawn = from ? [from, at].map(([latitude, longitude]) => position({ latitude, longitude })) : null;
                        if (drawn) marks.addLayer(L.polyline(drawn, { className: 'edit-line', interactive: false })).addLayer(mark(from, 'before', ''));
                        marks.addLayer(mark(at, kind, sign));
                    }
                },
                clear() {
                    marks.remove();
                    delete container.dataset.marked;
                },
            };
        },

        mark: (coordinate) => marker.put(coordinate && position(coordinate)),

        /** Draws the eye to a place of the list. */
        highlight(id) {
            for (const made of container.querySelectorAll('.spot')) made.classList.toggle('lit', made.dataset.id === id);
        },
    };
}

/** Adds the tiles, those for the dark where it is preferred; closer than they go, they are enlarged. */
function addTiles(map, { tiles, darkTiles, closestTiles }) {
    const { L } = window;
    const isDark = matchMedia('(prefers-color-scheme: dark)');
    const choose = () => (isDark.matches && darkTiles ? darkTiles : tiles);
    const layer = L.tileLayer(choose(), { maxZoom: closestZoom, maxNativeZoom: closestTiles }).addTo(map);
    if (!darkTiles) return;
    map.getContainer().classList.add('own-dark');
    isDark.addEventListener('change', () => layer.setUrl(choose()));
}

function coordinateOf(position) {
    return { latitude: Number(position.lat.toFixed(5)), longitude: Number(wrapped(position.lng).toFixed(5)) };
}

/** A marker that is there only while it has a position. */
function movableMarker(map, name, options = {}) {
    const { L } = window;
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
