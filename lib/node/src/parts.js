// What the modules of this package share of a UrlMode, and nobody else has.

/**
 * @typedef {object} Parts
 * @property {string} baseUrl
 * @property {import('./keys.js').KeyRing} keys
 * @property {import('./database.js').Database} database
 * @property {import('./listener.js').Listener} listener
 * @property {Set<() => Promise<void>>} closers what ends with it, called first
 */

/** @type {WeakMap<object, Parts>} */
const parts = new WeakMap();

/**
 * @param {object} urlmode
 * @param {Parts} its
 */
export function setParts(urlmode, its) {
	parts.set(urlmode, its);
}

/**
 * @param {object} urlmode
 * @returns {Parts}
 */
export function partsOf(urlmode) {
	const its = parts.get(urlmode);
	if (!its) throw new TypeError('urlmode must be a UrlMode');
	return its;
}
