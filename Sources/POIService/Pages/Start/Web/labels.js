// Names beside the places on the map, as many as fit without covering each other.

const lineHeight = 18;
const maximumWidth = 160;
const gap = 16;
/** Above are the degrees of the meridians. */
const topMargin = 28;

/** Shows the labels of the elements at these points where there is room in the map's width, featured places first. */
export function layOutLabels(elements, points, mapWidth) {
    const taken = elements.map((made, index) => {
        const { x, y } = points[index];
        const radius = made.offsetWidth / 2;
        return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius, index };
    });
    const places = elements.map((_, index) => index).filter((index) => elements[index].dataset.id);
    places.sort((one, other) => isFeatured(elements[other]) - isFeatured(elements[one]));
    for (const index of places) {
        const { x, y } = points[index];
        const label = elements[index].querySelector('.label');
        const width = Math.min(label.scrollWidth, maximumWidth) + 4;
        for (const [side, left] of [['right', x + gap], ['left', x - gap - width]]) {
            const box = { left, right: left + width, top: y - lineHeight / 2, bottom: y + lineHeight / 2 };
            if (left < 0 || box.right > mapWidth || y < topMargin) continue;
            if (taken.some((other) => other.index !== index && overlap(box, other))) continue;
            taken.push(box);
            label.classList.add(side);
            break;
        }
    }
}

const isFeatured = (made) => (made.classList.contains('featured') ? 1 : 0);

function overlap(one, other) {
    return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
