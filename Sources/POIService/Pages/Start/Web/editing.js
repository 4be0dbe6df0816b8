// What editors do, whose script is loaded when it is wanted.

import { element } from './elements.js';

/** What the page lends to edit mode; main.js fills it. */
export const page = {};

let offered = null;

/** Called by edit mode's script: what it can do. */
export const offer = (tools) => { offered = tools; };

/** Edit mode's tools; null while it isn't loaded. */
export const tools = () => offered;

/** Loads edit mode; rejects where that fails, and can be tried again. */
export async function loadTools({ script, style }) {
    if (offered) return offered;
    if (!document.querySelector(`link[href="${style}"]`)) {
        await new Promise((resolve, reject) => {
            const made = element('link', { rel: 'stylesheet', href: style });
            made.addEventListener('load', resolve);
            made.addEventListener('error', () => { made.remove(); reject(new Error('Edit mode can’t be loaded.')); });
            // Its rules come first, so that the page's have the last word.
            document.querySelector('style').before(made);
        });
    }
    await import(new URL(script, document.baseURI).href);
    return offered;
}
