// The map's background without tiles, down to zoom 8: land, lakes and borders of Natural Earth.

import { element } from './elements.js';

/** At closer zooms the shapes are too coarse. */
export const closestBaseMap = 8;
/** The file's coordinates are the map's pixels at this zoom. */
const fileZoom = 7;
/** The kinds of shapes, in the order in which they are drawn. */
const kinds = [
    { color: '--land', isArea: true }, { color: '--sea', isArea: true }, { color: '--border' }, { color: '--border', dash: [3, 3] },
];

/** Loads the shapes and adds them to the map, in a pane of their own; rejects where they can't be loaded. */
export async function addBaseMap(L, map, path) {
    const response = await fetch(path, { priority: 'low' });
    if (!response.ok) throw new Error(`The base map’s status is ${response.status}.`);
    const shapes = decode(new Uint8Array(await response.arrayBuffer()));
    map.createPane('base').style.zIndex = 140;
    const Layer = L.GridLayer.extend({
        createTile({ x, y, z }) {
            const size = 256 * Math.min(2, devicePixelRatio);
            const canvas = element('canvas', { width: size, height: size });
            draw(canvas, shapes, { x, y, z });
            return canvas;
        },
    });
    const layer = new Layer({ maxZoom: closestBaseMap, pane: 'base' }).addTo(map);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => layer.redraw());
}

/** Reads the shapes: see scripts/record/record-base-map. */
function decode(bytes) {
    const shapes = kinds.map(() => []);
    let at = 0;
    const number = () => {
        let [value, shift] = [0, 0];
        while (bytes[at] >= 0x80) {
            value |= (bytes[at++] & 0x7f) << shift;
            shift += 7;
        }
        return value | (bytes[at++] << shift);
    };
    const difference = () => {
        const value = number();
        return (value >>> 1) ^ -(value & 1);
    };
    let begin = [0, 0];
    while (at < bytes.length) {
        const kind = number();
        const points = new Int32Array(2 * number());
        const bounds = [Infinity, Infinity, -Infinity, -Infinity];
        let [x, y] = begin;
        for (let index = 0; index < points.length; index += 2) {
            points[index] = x += difference();
            points[index + 1] = y += difference();
            bounds[0] = Math.min(bounds[0], x);
            bounds[1] = Math.min(bounds[1], y);
            bounds[2] = Math.max(bounds[2], x);
            bounds[3] = Math.max(bounds[3], y);
        }
        begin = [points[0], points[1]];
        shapes[kind].push({ points, bounds });
    }
    return shapes;
}

function draw(canvas, shapes, { x, y, z }) {
    const context = canvas.getContext('2d');
    const colors = getComputedStyle(document.documentElement);
    const side = 256 * 2 ** (fileZoom - z);
    const scale = canvas.width / side;
    // What is drawn beyond the tile's edge isn't seen, lines' ends included.
    const margin = 4 / scale;
    const view = { left: x * side - margin, top: y * side - margin, right: (x + 1) * side + margin, bottom: (y + 1) * side + margin };
    context.setTransform(scale, 0, 0, scale, -x * side * scale, -y * side * scale);
    context.lineWidth = canvas.width / 256 / scale;
    context.lineJoin = 'round';
    context.fillStyle = colors.getPropertyValue('--sea');
    context.fillRect(view.left, view.top, view.right - view.left, view.bottom - view.top);
    kinds.forEach(({ color, isArea, dash = [] }, kind) => {
        context.beginPath();
        for (const { points, bounds: [left, top, right, bottom] } of shapes[kind]) {
            const isSeen = left < view.right && view.left < right && top < view.bottom && view.top < bottom;
            if (isSeen) trace(context, points, view, 0.5 / scale, isArea);
        }
        if (isArea) {
            context.fillStyle = colors.getPropertyValue(color);
            context.fill('evenodd');
        } else {
            context.strokeStyle = colors.getPropertyValue(color);
            context.setLineDash(dash.map((length) => length * context.lineWidth));
            context.stroke();
        }
    });
}

/** Adds a shape to the path: without points near the one before, and of a run of points beyond the same edge the last only. */
function trace(context, points, view, step, isArea) {
    const edgesOf = (x, y) => (x < view.left ? 1 : x > view.right ? 2 : 0) | (y < view.top ? 4 : y > view.bottom ? 8 : 0);
    let [lastX, lastY] = points;
    let edges = edgesOf(lastX, lastY);
    let skipped = null;
    context.moveTo(lastX, lastY);
    for (let index = 2; index < points.length; index += 2) {
        const [x, y] = [points[index], points[index + 1]];
        const beyond = edgesOf(x, y);
        const isLast = index === points.length - 2;
        if (!isLast && (edges & beyond) !== 0) {
            edges &= beyond;
            skipped = [x, y];
            continue;
        }
        if (skipped) context.lineTo(...skipped);
        else if (!isLast && Math.abs(x - lastX) + Math.abs(y - lastY) < step) continue;
        context.lineTo(x, y);
        [lastX, lastY, edges, skipped] = [x, y, beyond, null];
    }
    if (isArea) context.closePath();
}
