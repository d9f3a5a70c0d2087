// What the api asks the server back: whether the provider has been paid, and whether what a user has typed is right. It
// gives a lease for each, to one instance at a time.

import { checker, rechecker } from '../core/ask-back.js';
import { isLost } from './api.js';

/**
 * @typedef {import('./api.js').Members} Members
 * @typedef {import('./claims.js').Owned} Owned
 * @typedef {{ subject: string, session: string }} Owner
 */

export class Questions {
	#api;
	#rechecker;
	#checker;

	/**
	 * @param {import('./api.js').Api} api
	 * @param {(id: string, owner: Owner, answer: import('../core/types.js').Answer) => Promise<unknown>} complete
	 */
	constructor(api, complete) {
		this.#api = api;
		const endRecheck = async (/** @type {Members} */ body) => {
			try {
				return await api.call('end_recheck', body);
			} catch (error) {
				if (!isLost(error)) throw error;
				return { outcomes: [] };
			}
		};
		// The owner stands for the binding, which the api makes of it.
		this.#rechecker = rechecker(/** @type {never} */ ({
			answerRecheck: async (/** @type {any} */ { id, binding }, /** @type {any} */ { lease }, /** @type {any} */ { payments, refunds }) => {
				const body = { id, ...binding, lease, payments: payments.map(toRow), refunds: refunds.map(toRow) };
				return (await endRecheck(body)).outcomes;
			},
			endRecheck: (/** @type {any} */ { id, binding }, /** @type {any} */ { lease }, /** @type {boolean} */ failed) => (
				endRecheck({ id, ...binding, lease, ...failed && { failed } })),
			complete: (/** @type {any} */ { id, binding }, /** @type {import('../core/types.js').Answer} */ answer) => complete(id, binding, answer),
		}));
		this.#checker = checker(/** @type {never} */ ({
			openValues: (/** @type {unknown} */ _, /** @type {unknown} */ values) => values,
			checkProblem: (/** @type {unknown} */ problem) => problem ?? undefined,
			sealProblem: (/** @type {unknown} */ _, /** @type {unknown} */ problem) => problem,
			endCheck: (/** @type {any} */ { id, binding }, /** @type {string} */ lease, /** @type {unknown} */ problem, /** @type {boolean} */ failed) => (
				this.#endCheck({ id, ...binding }, lease, problem ?? undefined, failed)),
		}));
	}

	/**
	 * Asks a function of a wait what `wait` has given a lease for.
	 *
	 * @param {import('./waits.js').Entry} entry
	 * @param {Members} shown
	 * @returns {Promise<{ error?: unknown }>} error: that of the function
	 * @throws what the api says of the answer
	 */
	async answer({ id, owner, recheck, verify }, { status, provider, check, recheck: event }) {
		const row = /** @type {never} */ ({ id, binding: owner, status, provider });
		const end = check ? await this.#checker.answer(row, /** @type {never} */ ({ lease: check.lease, result: check.values, left_ms: check.left_ms }),
			verify ?? gone) : await this.#rechecker.answer(row, toTaken(event), recheck ?? gone);
		return 'error' in end && end.error !== GONE ? { error: end.error } : {};
	}

	/**
	 * Asks the provider before a claim.
	 *
	 * @param {Owned} owned
	 * @param {Members} event that the api has given a lease for
	 * @param {import('../core/types.js').RecheckFunction | undefined} recheck undefined: none for this provider, and the lease ends
	 * @param {AbortSignal} [signal] of the claim
	 * @throws the error of the function
	 */
	async askAbout({ id, ...owner }, event, recheck, signal) {
		const row = /** @type {never} */ ({ id, binding: owner, status: 'completed' });
		const end = await this.#rechecker.answer(row, toTaken(event), recheck ?? gone, signal);
		if ('error' in end && end.error !== GONE) throw end.error;
	}

	/**
	 * @param {Owned} owned
	 * @param {string} lease
	 * @param {unknown} problem
	 * @param {boolean} failed
	 */
	async #endCheck(owned, lease, problem, failed) {
		try {
			await this.#api.call('end_check', { ...owned, lease, ...failed && { failed }, problem });
		} catch (error) {
			// The time limit has passed.
			if (isLost(error)) return;
			// The problem is not as it must be: the page opens again.
			if (error instanceof TypeError && problem !== undefined) await this.#endCheck(owned, lease, undefined, true);
			throw error;
		}
	}
}

const GONE = new Error('there is nobody to ask');

/** @returns {never} */
function gone() {
	throw GONE;
}

/**
 * @param {Members} event
 * @returns {never}
 */
function toTaken({ lease, provider, type, references, expected, checkout = null }) {
	return /** @type {never} */ ({ lease, provider, event_type: type, unproven_references: references ?? [], expected, checkout });
}

/** @param {import('../core/money-types.js').PaymentEntry | import('../core/money-types.js').RefundEntry} entry */
function toRow({ elicitationId, ...entry }) {
	return { ...entry, id: elicitationId };
}
