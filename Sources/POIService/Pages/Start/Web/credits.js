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
}

/** An address at the end of the text becomes the link of what is before it. */
function tilesCredit(text) {
    const [, name, address] = /^(.*\S)\s+(https?:\/\/\S+)$/.exec(text) ?? [];
    return address ? outsideLink(address, name) : text;
}
