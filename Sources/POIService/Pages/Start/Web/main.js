// The page: what follows from which change.

import { progress } from './api.js';
import { credits, loadCredits, watchCredits } from './credits.js';
import { loadTools, page, tools } from './editing.js';
import { hideDetail, showDetail, showDetailFault } from './detail.js';
import { byID, element } from './elements.js';
import { createFeatured } from './featured.js';
import { browserPosition, showCategories, showChoices, suggest, watchOrigin, watchSearch } from './filters.js';
import { watchKey } from './key.js';
import { createList, originNames } from './list.js';
import { createMap, loadLeaflet } from './map.js';
import { boxAround, boxInView, limited, smallestZoom, viewOf } from './mercator.js';
import { attempt, clearNotice, tell, watchConnection } from './notices.js';
import * as service from './places.js';
import { center, change, chosen, readAddress, state, subscribe } from './state.js';

const settings = JSON.parse(document.querySelector('meta[name=settings]').content);
const { title } = document;
/** How close the map comes to a place that is looked for. */
const placeZoom = 14;
const world = [-180, -90, 180, 90];
let categories = [];
let nextPage = null;
/** Whether the map goes to its beginning: then everything is about to be loaded anyway. */
let isStarting = false;
/** The map; null while Leaflet is loaded, and where there is none. */
let map = null;
/** Whether the first places are there. */
let hasPlaces = false;
/** The clusters in view, which the map shows as soon as it is there. */
let inView = null;
/** Whether the search for the map's beginning has found what is in view, too. */
let hasBegun = false;
/** The last change between editing and reading, and whether another pin stands for the open place's. */
let [drawing, isPinHidden] = [Promise.resolve(false), false];
/** The place whose detail is open. */
let opened = null;
/** The id of the place whose detail was open last, and what it was opened from: the map, the strip or else the list. */
let [shown, opener] = ['', null];
/** Where the map was before a search, and where the search went; null where nothing is searched for. */
let searched = null;

function open(place, from = list) {
    opener = from;
    change({ place: String(place.id) }, { isStep: true });
}
const close = () => change({ place: null }, { isStep: true });
const clearFilters = () => { byID('q').value = ''; attempt(() => search('', { categories: [] })); };
const coordinateOf = ({ latitude, longitude }) => ({ latitude, longitude });
/** What an editor waits for: a place that is picked on the map, or a press on it. */
let [picked, pressed] = [null, null];
const mark = (place) => change({ from: 'marker', marker: coordinateOf(place) });

/** The width and height that the map has, or would have. */
const mapSize = () => [byID('map-panel').clientWidth, byID('map-panel').clientHeight];
const list = createList({ opened: (place) => open(place), pointed: (id) => map?.highlight(id) });
const strip = createFeatured((place) => open(place, strip));

/** Makes the map once Leaflet is there. Everything else is asked for, and shown in the list, meanwhile. */
async function prepareMap() {
    try {
        await loadLeaflet(settings);
    } catch {
        byID('map-missing').hidden = false;
        document.body.dataset.map = 'missing';
        return;
    }
    map = createMap(byID('map'), settings, {
        opened: (place) => (picked ? picked(place) : open(place, map)),
        marked: mark,
        pressed: (coordinate) => pressed?.(coordinate),
        listed: (coordinate) => { mark(coordinate); change({ view: 'list' }); },
        moved: (isByHand) => { if (!isStarting) change(isByHand ? chosen(map.at) : { at: map.at }); },
        resized: () => { if (!isStarting) attempt(loadMap); },
    });
    if (state.at) map.move(state.at);
    drawInView();
    drawOrigin();
    map.select(opened);
    if (opened) map.reveal(opened, byID('detail'));
    addBackground();
}

async function loadMap() {
    if (!state.at || document.body.dataset.map === 'missing') return;
    inView = await service.inBox(boxInView(state.at, mapSize()), state.at.zoom);
    drawInView();
}

function drawInView() {
    if (!map || !inView) return;
    map.show(inView);
    byID('map-note').textContent = inView.length === 0 ? 'No places here. Zoom out, or move the map.' : '';
}

function drawOrigin() {
    map?.mark(state.from === 'middle' ? null : center());
}

async function loadList(next = null) {
    const origin = center();
    if (!origin) return;
    drawOrigin();
    const page = await service.listed(origin, next);
    nextPage = page.next;
    if (next === null) suggest(state.q === '' ? [] : page.body);
    list.show(page.body, {
        after: next !== null, hasMore: page.next !== null, from: state.from, isSearch: state.q !== '', clearFilters,
        isFiltered: state.q !== '' || state.categories.length > 0,
    });
}

async function loadFeatured() {
    const origin = center();
    if (origin) strip.show((await service.nearestFeatured(origin)).body);
}

async function loadDetail() {
    if (state.place === null) {
        opened = null;
        document.title = title;
        map?.select(null);
        // The focus goes back to where the place was opened.
        if (hideDetail()) (opener ?? list).focus(shown);
        return;
    }
    shown = state.place;
    try {
        const { place, localName } = await service.place(shown, center());
        opened = place;
        map?.select(isPinHidden ? null : place);
        const options = {
            tools: editorsTools(place), near: () => change({ from: 'marker', marker: coordinateOf(place), place: null, ...chosen(viewAt(place)) }, { isStep: true }),
            from: originNames[state.from], dataset: credits(place.source), localName, link: `#place=${place.id}`, imageHosts: settings.imageHosts, close,
        };
        document.title = `${place.name} – ${title}`;
        if (showDetail(place, options)) map?.reveal(place, byID('detail'));
    } catch (error) {
        if (!isGone(error)) throw error;
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
    // What is found would be beneath the detail.
    showCategories(categories, state.categories, (names) => change({ categories: names, place: null }));
    showChoices(state);
    for (const view of ['map', 'list']) {
        byID(`${view}-tab`).setAttribute('aria-selected', String(state.view === view));
        byID(`${view}-tab`).tabIndex = state.view === view ? 0 : -1;
    }
    document.body.dataset.view = state.view;
}

/** What an editor can do with the place whose detail is open. */
function editorsTools(place) {
    if (!settings.editing) return [];
    if (state.isEditing && tools()) return tools().toolsFor(place);
    return [element('button', { type: 'button', class: 'link', onclick: () => editPlace(place.id) }, 'Correct this place')];
}

async function editPlace(id) {
    change({ isEditing: true });
    if (await drawEditing()) tools().openForm(id);
}

/** Begins or ends to edit, as the state says; returns whether somebody edits now. */
function drawEditing() {
    drawing = drawing.then(async () => {
        if (!settings.editing || (!state.isEditing && !tools())) return false;
        try {
            const made = await loadTools(settings.editing);
            if (!state.isEditing) made.end();
            else await made.begin();
        } catch (error) {
            change({ isEditing: false });
            if (error.status !== 401 && error.status !== 403) tell(error.message);
        }
        byID('edit').hidden = state.isEditing;
        if (opened) await attempt(loadDetail);
        return state.isEditing;
    });
    return drawing;
}

/** Loads everything again: at the start, with a new key, and when the service is back. */
async function refresh() {
    // Nothing that needs only the address waits for where the map begins.
    const known = attemptAll([loadCategories, () => loadCredits(settings)]);
    if (!(await attempt(start))) return;
    const works = [...(hasBegun ? [] : [loadMap]), () => loadList(), loadFeatured, () => known.then(loadDetail)];
    hasBegun = false;
    if ((await attemptAll(works)) && (await known)) clearNotice();
    hasPlaces = true;
    addBackground();
    if (state.isEditing) drawEditing();
}

/** Has the base map loaded, which nobody waits for, once the first places are there. */
function addBackground() {
    if (map && hasPlaces) requestAnimationFrame(() => map.addBackground());
}

async function attemptAll(works) {
    return (await Promise.all(works.map(attempt))).every(Boolean);
}

async function start() {
    isStarting = true;
    try {
        if (state.at) change(chosen(limited(state.at, mapSize())));
        else if (!(await goToPlace())) await goToBeginning();
        map?.move(state.at);
        drawInView();
    } finally {
        isStarting = false;
    }
}

/** Goes to the place of a link that says no more; returns whether there is one. */
async function goToPlace() {
    if (state.place === null) return false;
    try {
        change(chosen(viewAt((await service.place(state.place)).place)));
        return true;
    } catch (error) {
        if (!isGone(error)) throw error;
        return false;
    }
}

/** Whether a place isn't there: it never was, or was removed. */
function isGone(error) {
    return error.status === 404 || error.status === 410;
}

/** Goes to where the service's settings say, or to all places. */
async function goToBeginning() {
    if (settings.start) return change(chosen(limited(settings.start, mapSize())));
    const zoom = smallestZoom(mapSize());
    const all = await service.inBox(world, zoom);
    change(chosen(viewOfAll(all)));
    // These are the cells that such a map has.
    if (state.at.zoom !== zoom) return;
    hasBegun = true;
    inView = all;
}

/** Where the map shows all of these clusters. */
function viewOfAll(clusters, closest = 16) {
    if (clusters.length === 0) return limited({ latitude: 0, longitude: 0, zoom: 0 }, mapSize());
    const boxes = clusters.map(({ bbox, longitude, latitude }) => bbox ?? [longitude, latitude, longitude, latitude]);
    return viewOf(boxAround(boxes), mapSize(), closest);
}

/** Where the map has a place in its middle. */
const viewAt = (place) => limited({ ...coordinateOf(place), zoom: Math.max(placeZoom, state.at?.zoom ?? 0) }, mapSize());

async function showAll() {
    change(chosen(viewOfAll(await service.inBox(world, smallestZoom(mapSize()), { channel: 'search' }))));
}

/**
 * Searches. The map stays where something is found in view or nearby; else it goes to what is found, all of it or the best. A
 * search is judged by where the map was before it, and without a text the map goes back there, unless somebody has moved it.
 * `others` are changes that come with it.
 */
async function search(q, others = {}) {
    if (q === state.q) return change(others);
    const hasStayed = searched && JSON.stringify(searched.to) === JSON.stringify(state.at);
    const before = hasStayed ? searched.before : state.at;
    const to = q === '' ? before : await whereFound(q, before);
    const isStep = state.q === '';
    searched = q === '' ? null : { before, to };
    change({ ...others, q, place: null, ...(JSON.stringify(to) === JSON.stringify(state.at) ? {} : chosen(to)) }, { isStep });
}

async function whereFound(q, before) {
    const foundInView = await service.inBox(boxInView(before, mapSize()), before.zoom, { channel: 'search', q });
    if (foundInView.length > 0 || (await service.isNearby(q, before))) return before;
    const clusters = await service.inBox(world, smallestZoom(mapSize()), { channel: 'search', q });
    if (clusters.length > 0) return viewOfAll(clusters, placeZoom);
    const found = await service.best(q, before);
    return found ? viewAt(found) : before;
}

/** Reads the address after Back, or where somebody has changed it. */
function readStep() {
    searched = null;
    readAddress();
    byID('q').value = state.q;
}

/** Goes to a coordinate, with a marker there. */
function go(coordinate) {
    byID('q').value = state.q;
    change({ from: 'marker', marker: coordinate, place: null, ...chosen(viewAt(coordinate)) });
}

/** Goes to where the browser is, to about a kilometre: the map's middle is in the address, which may be shared. */
async function showMe() {
    await chooseOrigin('me');
    if (state.from !== 'me') return;
    const [latitude, longitude] = [state.me.latitude, state.me.longitude].map((degrees) => Number(degrees.toFixed(2)));
    change(chosen(limited({ latitude, longitude, zoom: placeZoom }, mapSize())));
}

async function chooseOrigin(from) {
    if (from === 'marker') return mark(state.marker ?? state.at);
    if (from === 'middle') return change({ from });
    try {
        // The map stays where it is: its middle is in the address.
        change({ from, me: await browserPosition() });
    } catch (error) {
        tell(error.message);
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
    const isElsewhere = has('from', 'marker', 'me') || (has('middle') && state.from === 'middle');
    const works = [
        (has('at') || isFiltered) && loadMap, (isElsewhere || isFiltered) && (() => loadList()),
        (isElsewhere || isFiltered) && loadFeatured,
        has('isEditing') && drawEditing, (has('place') || (isElsewhere && state.place !== null)) && loadDetail,
    ];
    if (works.some(Boolean)) attemptAll(works.filter(Boolean)).then((isWell) => { if (isWell) clearNotice(); });
});

Object.assign(page, {
    settings,
    map: () => map,
    categories: () => categories,
    middle: () => coordinateOf(state.at),
    box: () => boxInView(state.at, mapSize()),
    /** Shows anew what was changed. */
    reload: () => attemptAll([loadMap, () => loadList(), loadFeatured, loadDetail, loadCategories]),
    /** Shows a place that was made or changed. */
    async show(place) {
        map?.approach(place, placeZoom);
        change({ place: String(place.id) });
        await page.reload();
    },
    /** Shows no longer what was removed. */
    async leave(id) {
        if (state.place === String(id)) change({ place: null });
        await page.reload();
    },
    /** Goes to a place, or to a coordinate. */
    async look(id, coordinate) {
        const place = id === null ? null : await service.place(id).then(({ place: found }) => found, () => null);
        const at = place ?? coordinate;
        if (at?.latitude !== undefined) change(chosen(limited({ ...coordinateOf(at), zoom: Math.max(16, state.at?.zoom ?? 0) }, mapSize())));
        map?.mark(coordinate?.latitude === undefined ? null : coordinate);
        if (place) change({ place: String(place.id) });
    },
    pick: (handler) => { picked = handler; document.body.toggleAttribute('data-picking', handler !== null); },
    press: (handler) => { pressed = handler; document.body.toggleAttribute('data-picking', handler !== null); },
    hidePin: (isHidden) => { isPinHidden = isHidden; map?.select(isHidden ? null : opened); },
});

progress.changed = (isRunning) => {
    byID('progress').hidden = !isRunning;
    byID('list-panel').setAttribute('aria-busy', String(isRunning));
};
watchSearch((q) => { if (state.at) attempt(() => search(q)); }, go);
watchOrigin(chooseOrigin);
byID('more').addEventListener('click', () => attempt(() => loadList(nextPage)));
byID('zoom-in').addEventListener('click', () => map?.zoom(1));
byID('zoom-out').addEventListener('click', () => map?.zoom(-1));
byID('show-all').addEventListener('click', () => attempt(showAll));
byID('show-me').addEventListener('click', showMe);
byID('tabs').addEventListener('click', (event) => change({ view: event.target.id === 'list-tab' ? 'list' : 'map' }));
byID('tabs').addEventListener('keydown', (event) => {
    if (!['ArrowLeft', 'ArrowRight'].includes(event.key)) return;
    change({ view: state.view === 'map' ? 'list' : 'map' });
    byID(`${state.view}-tab`).focus();
});
document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && state.place !== null && !document.querySelector('dialog[open]') && !tools()?.isBusy()) close();
});
byID('edit').hidden = !settings.editing;
byID('edit').addEventListener('click', () => change({ isEditing: !state.isEditing }));
addEventListener('popstate', readStep);
addEventListener('hashchange', readStep);
watchConnection(refresh);
watchKey(refresh);
watchCredits();
drawChoices();
refresh();
prepareMap();
