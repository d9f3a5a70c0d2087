// Facts about clients that they do not declare: those of clients.json, and those
// of the server's option `clients`, which take precedence.

import { ROUNDS_MAX, ROUND_MS } from '../core/contract-limits.js';
import { sharedOf } from '../core/internals.js';
import { CLIENTS } from './contract-clients.js';

/**
 * @typedef {object} Client
 * @property {boolean} declares that it can send its user to a URL
 * @property {boolean} takesUrl whether it can
 * @property {'request' | 'error' | undefined} ask the way that works with it, if one is known
 */

/**
 * @param {Pick<import('./types.js').ElicitFields, 'urlmode' | 'roundTimeout'>} options
 * @param {import('./types.js').ClientLike} client
 * @returns {Client & { rounds: number, roundMs: number }}
 */
export function describeClient({ urlmode, roundTimeout }, { name, version = '', capabilities }) {
	const known = [...sharedOf(urlmode).clients, ...CLIENTS].find((facts) => facts.name === name && isIn(version, facts.versions));
	const declares = declaresUrl(capabilities);
	return {
		declares,
		takesUrl: known?.ask !== 'text' && (known?.url ?? declares),
		ask: known?.ask === 'text' ? undefined : known?.ask,
		rounds: Math.min(known?.rounds ?? 0, ROUNDS_MAX),
		roundMs: roundTimeout ?? known?.round ?? ROUND_MS,
	};
}

/** @param {unknown} capabilities */
function declaresUrl(capabilities) {
	const { elicitation } = /** @type {{ elicitation?: { url?: unknown } }} */ (capabilities ?? {});
	return typeof elicitation?.url === 'object' && elicitation.url !== null;
}

/**
 * @param {string} version
 * @param {{ from?: string | undefined, before?: string | undefined } | undefined} range
 */
function isIn(version, { from, before } = {}) {
	return (from === undefined || compare(version, from) >= 0) && (before === undefined || compare(version, before) < 0);
}

/**
 * Compares the numbers of two versions.
 *
 * @param {string} one
 * @param {string} other
 */
function compare(one, other) {
	const [a, b] = [numbersIn(one), numbersIn(other)];
	for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
		const difference = (a[index] ?? 0) - (b[index] ?? 0);
		if (difference !== 0) return difference;
	}
	return 0;
}

/** @param {string} version */
function numbersIn(version) {
	return (version.match(/\d+/g) ?? []).map(Number);
}
