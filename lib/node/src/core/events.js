// The events of a UrlMode. The instance that has made a change, or has read it
// for a wait, emits its event.

import { endOf } from './outcome.js';
import { PaymentReports } from './payments.js';
import { toRefund } from './refund.js';
import { inThisContext } from './runtime.js';
import { StatusTracker } from './status-tracker.js';
import { bindingOf } from './token.js';
import { toUnclaimedPayment } from './unclaimed.js';

/**
 * @typedef {import('./types.js').UrlModeEvents} UrlModeEvents
 * @typedef {{ subject: string, session: string }} Owner
 *
 * @typedef {object} EventSources
 * @property {import('./keys.js').KeyRing} keys
 * @property {string} tenant
 * @property {import('./database.js').Database} database
 * @property {import('./listener.js').Listener} listener
 * @property {(rowKey: import('./database.js').RowKey) => Promise<import('./database.js').Row | undefined>} read
 */

/** @type {(keyof UrlModeEvents)[]} */
const OF_A_WAIT = ['opened', 'processing', 'completed'];

export class Events {
	#emitter;
	#sources;
	#late;
	#refunds;
	#closed = false;
	#statuses = new StatusTracker();

	/**
	 * @param {import('node:events').EventEmitter<UrlModeEvents>} emitter
	 * @param {EventSources} sources
	 */
	constructor(emitter, sources) {
		this.#emitter = emitter;
		this.#sources = sources;
		const { database, listener } = sources;
		this.#late = new PaymentReports(listener, {
			member: 'late',
			read: async (filter) => (await database.unclaimed(filter)).filter(({ late }) => late),
			nameOf: (row) => `${row.provider_name} ${row.reference}`,
			stateOf: (row) => `${row.amount}`,
			report: (row) => this.#emitLate(row),
		});
		this.#refunds = new PaymentReports(listener, {
			member: 'refunded',
			read: (filter) => database.refunds(filter),
			nameOf: (row) => `${row.provider_name} ${row.reference} ${row.elicitation}`,
			stateOf: (row) => `${row.amount} ${row.reversed} ${row.payment}`,
			report: (row) => this.#emitLater('refunded', toRefund(row)),
		});
		/** @type {import('node:events').EventEmitter} */ (emitter).on('newListener', (event) => {
			if (this.#closed) return;
			if (event === 'late') this.#late.start();
			if (event === 'refunded') this.#refunds.start();
		});
	}

	/** @param {{ id: string, provider: string, kind: import('./types.js').Kind, owner: Owner, expires: number }} row expires: Unix seconds */
	created({ id, provider, kind, owner, expires }) {
		if (this.#emitter.listenerCount('created') === 0 || !this.#statuses.advance(id, 'created')) return;
		this.#emitLater('created', { elicitationId: id, provider, kind, ...owner, expiresAt: new Date(expires * 1_000) });
	}

	/**
	 * @param {import('./database.js').Row} row
	 * @param {Owner} owner
	 */
	status(row, owner) {
		const { id, provider, status } = row;
		if (status === 'pending' || this.#emitter.listenerCount(status) === 0 || !this.#statuses.advance(id, status)) return;
		const common = { elicitationId: id, provider, ...owner };
		if (status === 'completed') {
			this.#emitLater('completed', { ...common, status, ...endOf(row) });
		} else {
			this.#emitLater(status, { ...common, status });
		}
	}

	/**
	 * What the reads of a wait are told to: its events have the asynchronous context of the call. Where nobody listens, nothing keeps it.
	 *
	 * @param {Owner} owner
	 * @returns {(row: import('./database.js').Row) => void}
	 */
	ofWait(owner) {
		const report = (/** @type {import('./database.js').Row} */ row) => this.status(row, owner);
		return OF_A_WAIT.some((name) => this.#emitter.listenerCount(name) > 0) ? inThisContext(report) : report;
	}

	/**
	 * Emits the event of a row that this instance has completed.
	 *
	 * @param {string} id
	 * @param {Owner} owner
	 */
	async completion(id, owner) {
		if (this.#emitter.listenerCount('completed') === 0) return;
		try {
			const row = await this.#sources.read({ id, binding: bindingOf(owner.subject, owner.session, this.#sources.tenant) });
			if (row) this.status(row, owner);
		} catch {
			// An event that cannot be emitted fails nothing else.
		}
	}

	close() {
		this.#closed = true;
		this.#late.close();
		this.#refunds.close();
	}

	/** @param {import('./database.js').UnclaimedRow} row */
	#emitLate(row) {
		const { elicitationId, provider, subject, session, reference, amount, currency, matches } = toUnclaimedPayment(this.#sources.keys, row);
		this.#emitLater('late', { elicitationId, provider, subject, session, reference, amount, currency, matches });
	}

	/**
	 * Emits later, so that an error of a listener is an uncaught exception and
	 * ends no wait.
	 *
	 * @template {keyof UrlModeEvents} K
	 * @param {K} name
	 * @param {UrlModeEvents[K][0]} event
	 */
	#emitLater(name, event) {
		const emitter = /** @type {import('node:events').EventEmitter} */ (this.#emitter);
		if (emitter.listenerCount(name) > 0) process.nextTick(() => emitter.emit(name, event));
	}
}
