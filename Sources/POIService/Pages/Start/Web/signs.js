// Signs for places by their categories, which tell them apart at 16 pixels.

/** The shapes, in a square of 16: what two of them cover is a hole. */
const shapes = {
    airport: 'M8 1c.7 0 1 .8 1 2v3l5.5 3.5V11L9 9.5v3l1.8 1.3V15L8 14.2 5.2 15v-1.2L7 12.5v-3L1.5 11V9.5L7 6V3c0-1.2.3-2 1-2z',
    animal: 'M8 7.5c2 0 4 2.2 4 4.2 0 1.3-1 1.8-2 1.8-.8 0-1.2-.4-2-.4s-1.2.4-2 .4c-1 0-2-.5-2-1.8 0-2 2-4.2 4-4.2zM4 5.5a1.5 2 0 1 1-3 1.5 1.5 2 0 0 1 3-1.5zM7.3 4a1.3 2 0 1 1-2.6 0 1.3 2 0 0 1 2.6 0zM11.3 4a1.3 2 0 1 1-2.6 0 1.3 2 0 0 1 2.6 0zM15 7a1.5 2 0 1 1-3-1.5 1.5 2 0 0 1 3 1.5z',
    bar: 'M2 2.5h12L9 8.5V13h3v1.5H4V13h3V8.5zM5.2 4l1.2 1.5h3.2L10.8 4z',
    bed: 'M1.5 3.5H3v5.5h5V5.5h4a2.5 2.5 0 0 1 2.5 2.5v5H13v-2H3v2H1.5zM5.5 5.2a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z',
    book: 'M1.5 3c2.2-.6 4.3-.4 6 .8v9.7c-1.7-1-3.8-1.2-6-.7zM14.5 3c-2.2-.6-4.3-.4-6 .8v9.7c1.7-1 3.8-1.2 6-.7z',
    castle: 'M2 2.5h2v2h1.8v-2h4.4v2H12v-2h2V8h-1v6H9.7v-3a1.7 1.7 0 0 0-3.4 0v3H3V8H2z',
    columns: 'M8 1.5 14.5 5v1.5h-13V5zM2.5 7.5h2V12h-2zM7 7.5h2V12H7zM11.5 7.5h2V12h-2zM1.5 12.8h13v1.7h-13z',
    cross: 'M6 2h4v4h4v4h-4v4H6v-4H2V6h4z',
    cup: 'M2.5 4.5h9v1H12a2.5 2.5 0 0 1 0 5h-1A4 4 0 0 1 7 13a4.5 4.5 0 0 1-4.5-4.5zM11.5 7v2h.5a1 1 0 0 0 0-2zM2.5 14h9v1h-9zM4.5 1H6v2.5H4.5zM8 1h1.5v2.5H8z',
    fork: 'M3 1.5h1.2V6H5V1.5h1.2V6H7V1.5h1.2V6a2.6 2.6 0 0 1-1.7 2.4v6.1H4.7V8.4A2.6 2.6 0 0 1 3 6zM12.8 1.5v13H11V9.5H9.5V6.5c0-2.8 1.2-5 3.3-5z',
    houses: 'M1 8.5 4.5 5.5 8 8.5V14H1zM7 5.6 11 2l4 3.6V14H9.5V7.8z',
    mask: 'M2.5 2.5c3.6 1.2 7.4 1.2 11 0V8c0 3.3-2.4 5.5-5.5 6.2C4.9 13.5 2.5 11.3 2.5 8zM4.8 5.5V7h2.4V5.5zM8.8 5.5V7h2.4V5.5zM5 9.3c1.5 2.2 4.5 2.2 6 0z',
    mountain: 'M.5 13.5 6 3.5l3 5.4 1.5-2.4 5 7zM6 6.2 4.6 8.8 6 8.2l1.4.6z',
    picture: 'M1.5 2.5h13v11h-13zM3 4v8h10V4zM4 11l2.6-4 2 2.8L10 8l2.2 3z',
    roof: 'M7.3 1h1.4v2.2L14 8v6H9.7v-3a1.7 1.7 0 0 0-3.4 0v3H2V8l5.3-4.8z',
    shop: 'M2.8 5H5a3 3 0 0 1 6 0h2.2l.8 9.5H2zM6.3 5h3.4a1.7 1.7 0 0 0-3.4 0z',
    sport: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 4.8 5.3 6.7l1 3.3h3.4l1-3.3z',
    train: 'M5 1h6a2 2 0 0 1 2 2v7a2 2 0 0 1-1.5 2l1.5 2.5h-1.8L10.2 13H5.8l-1 1.5H3L4.5 12A2 2 0 0 1 3 10V3a2 2 0 0 1 2-2zM4.5 3.5v4h7v-4zM5.5 9a1 1 0 1 0 .01 0zM10.5 9a1 1 0 1 0 .01 0z',
    tree: 'M8 .8 12.2 6h-2.4l3.7 4.5H9V15H7v-4.5H2.5L6.2 6H3.8z',
};

/** The categories that have each of them. */
const categories = {
    airport: ['airport'], animal: ['zoo'], bar: ['bar', 'nightclub'], bed: ['hotel'],
    book: ['library', 'school', 'university', 'research_station', 'observatory'],
    castle: ['castle', 'historic_site', 'tower', 'lighthouse', 'memorial', 'bridge'],
    columns: ['government', 'bank', 'community_centre', 'conference_centre', 'square'], cross: ['hospital', 'pharmacy'], cup: ['cafe'],
    fork: ['restaurant', 'fast_food'], houses: ['town'], mask: ['theatre', 'cinema', 'arts_centre'],
    mountain: ['mountain', 'viewpoint', 'waterfall'], picture: ['museum', 'gallery', 'public_art'], roof: ['place_of_worship'],
    shop: ['shop', 'shopping_centre', 'marketplace'], sport: ['stadium'], train: ['transit_station'],
    tree: ['park', 'garden', 'natural_feature'],
};
const shapeOf = new Map(Object.entries(categories).flatMap(([shape, names]) => names.map((name) => [name, shapes[shape]])));

/** A category's sign; null where it has none. */
export function sign(category) {
    const shape = shapeOf.get(category);
    if (!shape) return null;
    const space = 'http://www.w3.org/2000/svg';
    const made = document.createElementNS(space, 'svg');
    for (const [name, value] of [['viewBox', '0 0 16 16'], ['aria-hidden', 'true'], ['class', 'sign']]) made.setAttribute(name, value);
    const path = document.createElementNS(space, 'path');
    path.setAttribute('d', shape);
    path.setAttribute('fill-rule', 'evenodd');
    made.append(path);
    return made;
}
