// What editors ask the service. Where it wants an editor's key, it is asked for, and the request made again.

import { key, Problem, send } from '../api.js';
import { askForKey } from '../key.js';

/** Does what needs an editor; rejects with the service's problem where nobody gives a key. */
async function asEditor(work) {
    for (;;) {
        try {
            return await work();
        } catch (error) {
            const isRefused = error instanceof Problem && (error.status === 401 || error.status === 403);
            if (!isRefused || !(await askForEditorsKey(key.get() === null ? '' : refusal(error)))) throw error;
        }
    }
}

const refusal = (error) => (error.status === 403 ? 'This key is for reading only.' : 'This key is not valid.');
let asking = null;

/** Asks once for whatever waits for it. */
function askForEditorsKey(fault) {
    asking ??= askForKey(fault, { title: 'Editing needs an editor’s key', action: 'Edit' }).finally(() => { asking = null; });
    return asking;
}

/** Finds out whether somebody may edit; asks for a key where that is needed. */
export const mayEdit = () => asEditor(() => send('GET', 'changes', { query: { limit: 1 } }));

/** A place's record, and its version. */
export const record = async (id) => (await asEditor(() => send('GET', `locations/${id}/record`))).body;

/** Makes an edit safe to send again (`Idempotency-Key`). */
export const newKey = () => crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

function edit(method, path, version, body, requestKey, type = 'application/json') {
    const headers = { 'Idempotency-Key': requestKey ?? newKey() };
    if (version !== null) headers['If-Match'] = `"${version}"`;
    if (body !== undefined) headers['Content-Type'] = type;
    return asEditor(() => send(method, path, { headers, body: body === undefined ? undefined : JSON.stringify(body) }));
}

export const create = async (members, requestKey) => (await edit('POST', 'locations', null, members, requestKey)).body;
export const correct = async (id, version, patch, requestKey) => (await edit('PATCH', `locations/${id}`, version, patch, requestKey, 'application/merge-patch+json')).body;
export const remove = (id, version) => edit('DELETE', `locations/${id}`, version);
export const restore = async (id, version, to) => (await edit('POST', `locations/${id}/restore`, version, { version: to })).body;
export const merge = async (id, version, into) => (await edit('POST', `locations/${id}/merge`, version, { into: Number(into) })).body;

/** A page of what changed a place, newest first; `next` is the path of a further one. */
export const versions = (id, next) => asEditor(() => send('GET', next ?? `locations/${id}/versions`));
/** A page of what people changed in a box. */
export const changes = (box, next) => asEditor(() => (next ? send('GET', next) : send('GET', 'changes', { query: { bbox: box.join() } })));
/** A page of what people report. */
export const openReports = (next) => asEditor(() => send('GET', next ?? 'reports', next ? {} : { query: { status: 'open' } }));

/** Says what became of a report. */
export async function settleReport(id, change) {
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    return (await asEditor(() => send('PATCH', `reports/${id}`, { headers, body: JSON.stringify(change) }))).body;
}
