// A UrlMode whose elicitations end as a test says. Everything but PostgreSQL is the real package: it checks what a call is given, and the
// adapters ask the client, wait, and run the body.

import { randomBytes } from 'node:crypto';

import { TTL_MS } from '../core/contract-limits.js';
import { RESULT_INFO } from '../core/contract-seals.js';
import { LISTENER, Listener } from '../core/listener.js';
import { parseKeys } from '../core/keys.js';
import { seal } from '../core/seal.js';
import { UrlMode } from '../core/urlmode.js';

/**
 * @typedef {object} End how an elicitation ends
 * @property {import('../core/types.js').Action} action
 * @property {string} [reason]
 * @property {object | undefined} [result]
 * @property {string | undefined} [reference]
 * @property {number | undefined} [amount] in minor units
 * @property {string | undefined} [currency]
 *
 * @typedef {{ result?: object, reference?: string, amount?: number, currency?: string }} Accepted
 * @typedef {Record<string, unknown>[]} Rows
 */

/**
 * The user came back, or has paid.
 *
 * @param {Accepted} [accepted] `result`: what the provider has sent. `reference`, `amount` and `currency`: of the payment; by default it is the
 *     price that was asked
 * @returns {End}
 */
export const accept = ({ result, reference, amount, currency } = {}) => ({ action: 'accept', result, reference, amount, currency });

/** The user has typed these values, for kind `input`. @param {import('../core/form-types.js').Values} values by the name of their field @returns {End} */
export const typeIn = (values) => ({ action: 'accept', result: { values } });

/**
 * This approver has agreed, for kind `approval`.
 *
 * @param {string} approver as the sign-in knows them
 * @param {string} [comment] what they have written
 * @returns {End}
 */
export const approve = (approver, comment) => ({ action: 'accept', result: { approver, comment, decided_at: new Date().toISOString() } });

/** The user, or the provider, has refused. @param {string} [reason] a code @returns {End} */
export const decline = (reason = 'declined') => ({ action: 'decline', reason });

/** Nobody has opened the link in time. @returns {End} */
export const expire = () => ({ action: 'cancel', reason: 'expired' });

/** It was paid, and the operator must decide, because a part of it may have gone back. @returns {End} */
export const hold = () => ({ action: 'cancel', reason: 'held' });

/**
 * The first elicitation that is created ends as the first end says, and so on. Without an end it stays open, so that a wait for it times out.
 * Nothing else is remembered: what a database decides about claims, refunds and calls that go on with earlier ones is not tested by it, and
 * `unclaimed` and the like are empty.
 */
export class ScriptedUrlMode extends UrlMode {
	/** The ids of the elicitations, in the order in which they were created. @type {string[]} */
	created;

	/**
	 * @param {End[]} [ends] how the elicitations end, in the order in which they are created
	 * @param {Partial<import('../core/types.js').UrlModeOptions>} [options] those of a UrlMode, beside the database and the keys
	 */
	constructor(ends = [], options = {}) {
		const keys = `1 ${randomBytes(32).toString('base64')}\n`;
		const script = new Script(ends, keys);
		super({
			baseUrl: 'https://callback.example', ...options, keys,
			pool: /** @type {never} */ ({
				query: async (/** @type {string} */ text, /** @type {unknown[]} */ values) => ({ rows: script.answer(text, values) }),
				options: { [LISTENER]: listenerOf(script) },
			}),
		});
		this.created = script.created;
	}
}

/** Answers the statements of the package. */
class Script {
	/** @type {string[]} */
	created = [];
	#ends;
	#keys;
	/** @type {Map<unknown, Record<string, unknown>>} by id */
	#rows = new Map();

	/** @param {End[]} ends @param {string} keys */
	constructor(ends, keys) {
		this.#ends = [...ends];
		this.#keys = parseKeys(keys, 'keys');
	}

	/** @param {string} text @param {unknown[]} values @returns {Rows} */
	answer(text, values) {
		const name = /urlmode\.(\w+)\(/.exec(text)?.[1] ?? '';
		return Object.hasOwn(ANSWERS, name) ? [{ answer: ANSWERS[name] }] : this.#answers[name]?.(.../** @type {any[]} */ (values)) ?? [];
	}

	/** @type {Record<string, (...values: any[]) => Rows>} by the name of the function */
	#answers = {
		create_elicitation: (ids, providers, kinds, _subjects, _sessions, bindings, _requesters, _targets, prices) => {
			const expires = Date.now() / 1_000 + TTL_MS / 1_000;
			return ids.map((/** @type {string} */ id, /** @type {number} */ n) => {
				this.#create(id, bindings[n], { provider: providers[n], kind: kinds[n], expected: prices[n] && JSON.parse(prices[n]) });
				return { expires_at: expires, outcome: 'created' };
			});
		},
		read_paid: (ids) => ids.flatMap((/** @type {string} */ id) => this.#rows.get(id) ?? []),
		resume_for: (bindings) => bindings.map(() => ({ id: null })),
		begin_lease: (id) => {
			const { kind, action, payment_reference: reference } = this.#rows.get(id) ?? {};
			const outcome = kind === undefined ? 'unknown' : action === null ? 'open' : action !== 'accept' ? 'changed' : kind === 'oauth' ? 'claimed' : 'begun';
			return [{ outcome, claimed_reference: reference ?? '', fence: '1', fulfilled: null, leased_ms: null }];
		},
		claim_at_once: () => [{ outcome: 'claimed', leased_ms: null }],
		abandon: (ids) => ids.map(() => ({ outcome: 'completed' })),
	};

	/** @param {string} id @param {Buffer} binding @param {{ provider: string, kind: string, expected: any }} asked */
	#create(id, binding, asked) {
		this.created.push(id);
		const end = this.#ends.shift();
		const row = {
			id, ...asked, status: 'pending', action: null, reason: '', late: false, result: null, verifier: null, closes_in_ms: String(TTL_MS), failed_attempts: 0,
			completed_from: null, rechecks: 0, rechecked: 0, recheck_in_ms: null, payment_reference: null, refunded: '0', held: false, amount: null,
			currency: null, tax: null,
		};
		this.#rows.set(id, end ? { ...row, ...this.#ended(row, binding, end) } : row);
	}

	/** @param {{ id: string, kind: string, expected: any }} row @param {Buffer} binding @param {End} end */
	#ended({ id, kind, expected }, binding, { action, reason = '', result, reference = `test_${id}`, amount = expected?.amount, currency = expected?.currency }) {
		return {
			status: 'completed', action, reason, held: reason === 'held',
			result: result ? seal(this.#keys, { id, binding, use: RESULT_INFO }, JSON.stringify(result)) : null,
			...kind === 'payment' && action === 'accept' && { payment_reference: reference, amount, currency },
		};
	}
}

/** The answers of functions that return one value. @type {Record<string, unknown>} */
const ANSWERS = {
	settle: 'completed', renew_lease: 'renewed', fulfil_lease: 'fulfilled', begin_ask: '', purge: 0, purge_results: 0, confirm_claim: true,
	release_claim: true, end_exchange: true, release_unsent: true, paid: false, delivered: false,
};

/** A listener that hears nothing, and reads what the script says. @param {Script} script */
const listenerOf = (script) => class extends Listener {
	/** @override */
	get listening() {
		return true;
	}

	/** @override */
	get receivesNotifications() {
		return true;
	}

	/** @override */
	async holder() {
		return null;
	}

	/** @override */
	acquire() {}

	/** @override @param {string} text @param {unknown[]} values */
	async query(text, values) {
		return script.answer(text, values);
	}
};
