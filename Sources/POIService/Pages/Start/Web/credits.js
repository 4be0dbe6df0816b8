// Who is to be named for what the page shows: the tiles, and the datasets of the places.

import { byID, outsideLink } from './elements.js';
import { attributions } from './places.js';

let datasets = [];

/** What is known of a place's dataset. */
export const credits = (source) => datasets.find(({ dataset }) => dataset === source?.dataset);

/** Shows all credits. */
export async function loadCredits(settings) {
    ({ body: datasets } = await attributions());
    const texts = datasets.map(({ dataset, license, credit, url }) => {
        const text = `${credit ?? dataset} (${license})`;
        return url ? outsideLink(url, text) : text;
    });
    if (settings.attribution) texts.unshift(tilesCredit(settings.attribution));
    byID('credits').replaceChildren(...texts.flatMap((text, index) => (index === 0 ? [text] : [' · ', text])));
    drawButton();
}

/** Long credits have two lines until somebody wants all of them, or tabs to their links. */
export function watchCredits() {
    byID('all-credits').addEventListener('click', toggle);
    byID('credits').addEventListener('focusin', () => { if (isCut()) toggle(); });
    new ResizeObserver(drawButton).observe(byID('credits'));
}

const isWhole = () => byID('credits').classList.contains('whole');
const isCut = () => !isWhole() && byID('credits').scrollHeight > byID('credits').clientHeight + 1;

function toggle() {
    byID('credits').classList.toggle('whole');
    byID('credits').tabIndex = isWhole() ? 0 : -1;
    drawButton();
}

function drawButton() {
    const button = byID('all-credits');
    button.hidden = !isWhole() && !isCut();
    button.textContent = isWhole() ? 'Fewer credits' : 'All credits';
    button.setAttribute('aria-expanded', String(isWhole()));
}

/** An address at the end of the text becomes the link of what is before it. */
function tilesCredit(text) {
    const [, name, address] = /^(.*\S)\s+(https?:\/\/\S+)$/.exec(text) ?? [];
    return address ? outsideLink(address, name) : text;
}
