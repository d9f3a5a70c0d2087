// The internals of a UrlMode that other modules of this package use, and that
// are not part of its public interface.

/**
 * @typedef {object} Internals
 * @property {string} baseUrl
 * @property {import('./keys.js').KeyRing} keys
 * @property {import('./database.js').Database} database
 * @property {import('./listener.js').Listener} listener
 * @property {import('./claims.js').Claims} claims
 * @property {import('./ledger.js').Ledger} ledger
 * @property {import('./rechecks.js').Rechecks} rechecks
 * @property {import('./callback-urls.js').UrlBuilder} urls
 * @property {string} name the name of this server on the confirm page
 * @property {readonly import('./types.js').ClientFacts[]} clients
 * @property {Set<() => Promise<void>>} closers called first when the UrlMode is closed
 * @property {Set<() => Promise<void>>} finishers wait for work that still uses the database
 * @property {() => boolean} isClosed
 */

/** @type {WeakMap<object, Internals>} */
const internals = new WeakMap();

/**
 * @param {object} urlmode
 * @param {Internals} values
 */
export function setInternals(urlmode, values) {
	internals.set(urlmode, values);
}

/**
 * @param {object} urlmode
 * @returns {Internals}
 */
export function internalsOf(urlmode) {
	const values = internals.get(urlmode);
	if (!values) throw new TypeError('urlmode must be a UrlMode');
	return values;
}

/**
 * @template T
 * @param {object} urlmode whose `close` waits for it
 * @param {Promise<T>} work that has just begun
 * @returns {Promise<T>}
 */
export function finish(urlmode, work) {
	const { finishers } = internalsOf(urlmode);
	const finished = () => work.then(() => {}, () => {});
	finishers.add(finished);
	return work.finally(() => finishers.delete(finished));
}
