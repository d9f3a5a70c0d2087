// What goes with the next MAJOR version. nginx/UPGRADING.md names each of them, and says how long it stays.

import { TEXTS } from './contract-texts.js';
import { warn } from './runtime.js';

/** @type {Set<string>} */
const reported = new Set();

/**
 * Says once in this process that somebody uses what will go. What is deprecated calls it, and does what it did.
 *
 * @param {string} what as a caller writes it, such as `UrlMode.old()`
 * @param {string} instead what takes its place
 */
export function deprecated(what, instead) {
	if (reported.has(what)) return;
	reported.add(what);
	warn(TEXTS.deprecated(what, instead), 'URLMODE_DEPRECATED');
}
