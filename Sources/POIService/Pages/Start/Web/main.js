// The page: what follows from which change.

import { progress } from './api.js';
import { credits, loadCredits } from './credits.js';
import { hideDetail, showDetail, showDetailFault } from './detail.js';
import { byID, countOf } from './elements.js';
import { createFeatured } from './featured.js';
import { browserPosition, showCategories, showChoices, watchOrigin, watchSearch } from './filters.js';
import { watchKey } from './key.js';
import { createList, originNames } from './list.js';
import { createMap, hasMap } from './map.js';
import { attempt, clearNotice, watchConnection } from './notices.js';
import * as service from './places.js';
import { center, change, readAddress, state, subscribe } from './state.js';

const settings = JSON.parse(document.querySelector('meta[name=settings]').content);
let categories = [];
let nextPage = null;
/** Whether the map goes to its beginning: then everything is about to be loaded anyway. */
let isStarting = false;
/** The id of the place whose detail was open last. */
let shown = '';

const open = (place) => change({ place: String(place.id) }, { isStep: true });
const close = () => change({ place: null }, { isStep: true });
const clearFilters = () => change({ categories: [], q: '' });
const mark = ({ latitude, longitude }) => change({ from: 'marker', marker: { latitude, longitude } });

const list = createList({ opened: open, pointed: (id) => map?.highlight(id) });
const strip = createFeatured(open);
const map = hasMap ? createMap(byID('map'), settings, {
    opened: open,
    marked: mark,
    listed: (coordinate) => { mark(coordinate); change({ view: 'list' }); },
    moved: () => { if (!isStarting) change({ at: map.at }); },
    resized: () => { if (!isStarting) attempt(loadMap); },
}) : null;

async function loadMap() {
    if (!map || !state.at) return;
    const { clusters, isPartial } = await service.inBox(map.box, map.at.zoom);
    map.show(clusters);
    byID('map-note').textContent = isPartial ? `Only the nearest ${countOf(clusters.length, 'place')} are shown. Zoom in for others.`
        : clusters.length === 0 ? 'No places here. Zoom out, or move the map.' : '';
}

async function loadList(next = null) {
    const origin = center();
    if (!origin) return;
    map?.mark(state.from === 'middle' ? null : origin);
    const page = await service.nearest(origin, next);
    nextPage = page.next;
    list.show(page.body, {
        after: next !== null, hasMore: page.next !== null, from: state.from, clearFilters,
        isFiltered: state.q !== '' || state.categories.length > 0,
    });
}

async function loadFeatured() {
    const origin = center();
    if (origin) strip.show((await service.nearestFeatured(origin)).body);
}

async function loadDetail() {
    if (state.place === null) {
        map?.select(null);
        if (hideDetail()) list.focus(shown);
        return;
    }
    shown = state.place;
    try {
        const { body: place } = await service.place(shown, center());
        map?.select(place);
        const options = { from: originNames[state.from], dataset: credits(place.source), close };
        if (showDetail(place, options)) map?.reveal(place, byID('detail'));
    } catch (error) {
        if (error.status !== 404) throw error;
        showDetailFault('This place is no longer there.', close);
    }
}

async function loadCategories() {
    ({ body: categories } = await service.allCategories());
    const known = new Set(categories.map(({ name }) => name));
    change({ categories: state.categories.filter((name) => known.has(name)) });
    drawChoices();
}

function drawChoices() {
    showCategories(categories, state.categories, (chosen) => change({ categories: chosen }));
    showChoices(state);
    for (const view of ['map', 'list']) {
        byID(`${view}-tab`).setAttribute('aria-selected', String(state.view === view));
        byID(`${view}-tab`).tabIndex = state.view === view ? 0 : -1;
    }
    document.body.dataset.view = state.view;
}

/** Loads everything again: at the start, with a new key, and when the service is back. */
async function refresh() {
    if (!(await attempt(start))) return;
    const loadCreditsAndDetail = () => loadCredits(settings).then(loadDetail);
    await attemptAll([loadCategories, loadMap, () => loadList(), loadFeatured, loadCreditsAndDetail]);
}

async function attemptAll(works) {
    const outcomes = await Promise.all(works.map(attempt));
    if (outcomes.length > 0 && outcomes.every(Boolean)) clearNotice();
}

async function start() {
    isStarting = true;
    try {
        if (state.at) map?.move(state.at);
        else await goToBeginning();
    } finally {
        isStarting = false;
    }
}

/** Where the map begins if the address doesn't say. */
async function goToBeginning() {
    const { box, coordinate } = (await service.beginning()) ?? { coordinate: { latitude: 0, longitude: 0 } };
    const { latitude, longitude } = coordinate ?? { latitude: (box[1] + box[3]) / 2, longitude: (box[0] + box[2]) / 2 };
    map?.move({ latitude, longitude, zoom: coordinate ? 14 : 2 });
    if (box) map?.showBox(box, { animate: false });
    change({ at: map?.at ?? { latitude, longitude, zoom: 12 } });
}

async function chooseOrigin(from) {
    if (from === 'marker') return mark(state.marker ?? state.at);
    if (from === 'middle') return change({ from });
    try {
        // The map stays where it is: its middle is in the address.
        change({ from, me: await browserPosition() });
    } catch (error) {
        byID('summary').textContent = error.message;
        showChoices(state);
    }
}

readAddress();
subscribe((changed) => {
    const has = (...names) => names.some((name) => changed.includes(name));
    drawChoices();
    if (isStarting) return;
    if (has('at')) map?.move(state.at);
    const isFiltered = has('categories', 'q');
    const isElsewhere = has('from', 'marker', 'me') || (has('at') && state.from === 'middle');
    const works = [
        (has('at') || isFiltered) && loadMap, (isElsewhere || isFiltered) && (() => loadList()),
        (isElsewhere || isFiltered) && loadFeatured,
        (has('place') || (isElsewhere && state.place !== null)) && loadDetail,
    ];
    attemptAll(works.filter(Boolean));
});

progress.changed = (isRunning) => {
    byID('progress').hidden = !isRunning;
    byID('list-panel').setAttribute('aria-busy', String(isRunning));
};
watchSearch((q) => change({ q }));
watchOrigin(chooseOrigin);
byID('more').addEventListener('click', () => attempt(() => loadList(nextPage)));
byID('zoom-in').addEventListener('click', () => map.zoom(1));
byID('zoom-out').addEventListener('click', () => map.zoom(-1));
byID('tabs').addEventListener('click', (event) => change({ view: event.target.id === 'list-tab' ? 'list' : 'map' }));
byID('tabs').addEventListener('keydown', (event) => {
    if (!['ArrowLeft', 'ArrowRight'].includes(event.key)) return;
    change({ view: state.view === 'map' ? 'list' : 'map' });
    byID(`${state.view}-tab`).focus();
});
document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && state.place !== null && !document.querySelector('dialog[open]')) close();
});
addEventListener('popstate', readAddress);
addEventListener('hashchange', readAddress);
watchConnection(refresh);
watchKey(refresh);
if (!map) {
    byID('map-missing').hidden = false;
    document.body.dataset.map = 'missing';
}
drawChoices();
refresh();
