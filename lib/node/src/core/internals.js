// The internals of a UrlMode that other modules of this package use, and that
// are not part of its public interface.

import { TEXTS } from './contract-texts.js';

/**
 * @typedef {object} Handles how the adapters seal what their clients send back: which elicitation a call goes on with, for whom and what
 * @property {RegExp} pattern of a handle, beside what others have in requestState: its token, how often the client was asked to call again, and
 *     what a body has left for its next round
 * @property {(request: HandleRequest, elicitation: HandledElicitation) => string | Promise<string>} seal
 * @property {(request: HandleRequest, sealed: string) => HandledElicitation | Promise<HandledElicitation>} open throws StateTokenError if it
 *     is not one for this request
 * @property {(handle: string, elicitation: HandledElicitation, owner: import('./types.js').Owner, left: LeftRound) => string | Promise<string>} sealRound
 *     the handle with it
 * @property {(text: string, elicitation: HandledElicitation, owner: import('./types.js').Owner) => LeftRound | Promise<LeftRound>} openRound throws StateTokenError
 * @property {(sealed: string) => unknown} check throws StateTokenError, or rejects with it, if it is none at all
 *
 * @typedef {object} LeftRound how a call goes on whose body has asked for something itself
 * @property {string} [reference] of the claim
 * @property {number} [fence]
 * @property {string} state the requestState of the body
 *
 * @typedef {object} HandleRequest
 * @property {import('./types.js').AnyCreateOptions} options of the call
 * @property {string} key its resume key
 *
 * @typedef {import('./types.js').AnyElicitation} HandledElicitation
 *
 * @typedef {'asked' | 'declined' | 'dismissed' | 'failed'} AskAnswer
 * @typedef {object} Ask a client that is asked to open an elicitation
 * @property {string} id
 * @property {string} subject
 * @property {string} session
 * @property {{ name?: string | undefined, version?: string | undefined }} client
 *
 * @typedef {object} Asks which clients were asked to open an elicitation and did not
 * @property {(ask: Ask, awaited: boolean) => Promise<'' | AskAnswer>} begin empty: it may be asked. awaited: it is remembered as asked
 *     until `end`
 * @property {(ask: Ask, answer: 'accepted' | AskAnswer) => Promise<void>} end accepted: it is forgotten
 *
 * @typedef {object} Shared what the adapters use, whether the UrlMode has a database or the api
 * @property {Handles} handles
 * @property {Asks} asks
 * @property {(provider: string) => import('./types.js').RecheckFunction | undefined} recheckOf
 * @property {string | undefined} name the name of this server on the confirm page; undefined: the api knows it
 * @property {readonly import('./types.js').ClientFacts[]} clients
 * @property {Set<() => Promise<void>>} closers called first when the UrlMode is closed
 * @property {Set<() => Promise<void>>} finishers wait for work that still uses it
 * @property {() => boolean} isClosed
 *
 * @typedef {Shared & Own} Internals
 * @typedef {object} Own
 * @property {string} baseUrl
 * @property {string} tenant empty: none
 * @property {import('./keys.js').KeyRing} keys
 * @property {import('./database.js').Database} database
 * @property {import('./listener.js').Listener} listener
 * @property {import('./claims.js').Claims} claims
 * @property {import('./tasks.js').Tasks} tasks
 * @property {import('./ledger.js').Ledger} ledger
 * @property {import('./rechecks.js').Rechecks} rechecks
 * @property {import('./callback-urls.js').UrlBuilder} urls
 */

/** @type {WeakMap<object, Shared | Internals>} */
const internals = new WeakMap();

/**
 * @param {object} urlmode
 * @param {Shared | Internals} values
 */
export function setInternals(urlmode, values) {
	internals.set(urlmode, values);
}

/**
 * @param {object} urlmode
 * @returns {Shared}
 */
export function sharedOf(urlmode) {
	const values = internals.get(urlmode);
	if (!values) throw new TypeError(TEXTS.mustBeUrlmode);
	return values;
}

/**
 * @param {object} urlmode
 * @returns {Internals}
 */
export function internalsOf(urlmode) {
	const values = sharedOf(urlmode);
	if (!('database' in values)) throw new TypeError('urlmode must be a UrlMode with a database: that of urlmode/http has none');
	return /** @type {Internals} */ (values);
}

/**
 * @template T
 * @param {object} urlmode whose `close` waits for it
 * @param {Promise<T>} work that has just begun
 * @returns {Promise<T>}
 */
export function finish(urlmode, work) {
	const { finishers } = sharedOf(urlmode);
	const finished = () => work.then(() => {}, () => {});
	finishers.add(finished);
	return work.finally(() => finishers.delete(finished));
}
