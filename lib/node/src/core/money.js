// The methods of UrlMode about money: they list, compare and follow what was paid,
// and what went back.

import { EventEmitter } from 'node:events';

import { checkConsumer, checkPaid, checkProvider, checkSignal, checkSince } from './arguments.js';
import { checkEntitlementOptions, toEntitlement } from './entitlements.js';
import { UrlModeClosedError } from './errors.js';
import { internalsOf } from './internals.js';
import { reconcile } from './reconcile.js';
import { toRefund } from './refund.js';
import { toUnclaimedPayment, toUndeliveredClaim } from './unclaimed.js';

/** @extends {EventEmitter<import('./types.js').UrlModeEvents>} */
export class MoneyMethods extends EventEmitter {
	/** It has none of the options of an EventEmitter. */
	constructor() {
		super();
	}

	/**
	 * Lists the payments that a provider has proved, that were not refunded, and
	 * that no call has claimed, of all users, the oldest first.
	 *
	 * @param {{ provider?: string, since?: Date }} [options] `since`: only those that were proved then or later
	 * @returns {Promise<import('./money-types.js').UnclaimedPayment[]>}
	 */
	async unclaimed({ provider, since } = {}) {
		const { database, keys } = openOf(this);
		const rows = await database.unclaimed(filterOf(provider, since));
		return rows.map((row) => toUnclaimedPayment(keys, row));
	}

	/**
	 * Lists the claims that were fulfilled and never confirmed, of all users, the oldest first. Nobody knows that their answers were
	 * written; some may be on their way.
	 *
	 * @param {{ provider?: string, since?: Date }} [options] `since`: only those that were fulfilled then or later
	 * @returns {Promise<import('./money-types.js').UndeliveredClaim[]>}
	 */
	async undelivered({ provider, since } = {}) {
		const rows = await openOf(this).database.undelivered(filterOf(provider, since));
		return rows.map(toUndeliveredClaim);
	}

	/**
	 * Lists the refunds of payments, and how much came again, also after a
	 * call has claimed the payment: refunds, disputes, cancelled authorisations. Of
	 * all users, the last change last.
	 *
	 * @param {{ provider?: string, since?: Date }} [options] `since`: only what changed then or later. Transactions commit in
	 *     another order than they begin: ask again for the last minute, and expect what you have seen
	 * @returns {Promise<import('./money-types.js').Refund[]>}
	 */
	async refunds({ provider, since } = {}) {
		const rows = await openOf(this).database.refunds(filterOf(provider, since));
		return rows.map(toRefund);
	}

	/**
	 * Compares what a provider lists with what is here: payments, and what went back
	 * of them. It only reads, and records nothing. What names no elicitation and no
	 * checkout of this database is somebody else's.
	 *
	 * @param {import('./money-types.js').ReconcileOptions} options
	 * @returns {Promise<import('./money-types.js').Reconciliation>}
	 */
	async reconcile(options) {
		const { database, tenant } = openOf(this);
		return reconcile((...statement) => database.query(...statement), tenant, options);
	}

	/**
	 * Follows everything about money, in order: each entry at least once, and acknowledged when the
	 * next one is asked for. A loop that throws or breaks leaves its entry unacknowledged. It
	 * waits for entries until `close`, and for its turn while another instance reads for this consumer.
	 *
	 * @param {import('./money-types.js').LedgerOptions} options
	 * @returns {AsyncGenerator<import('./money-types.js').LedgerEntry, void, void>}
	 */
	ledger({ consumer, signal }) {
		const { ledger } = openOf(this);
		checkSignal(signal);
		return ledger.follow(checkConsumer(consumer), signal);
	}

	/**
	 * Whether this user has paid for this item: a payment that was as expected, and that
	 * did not go back as a whole. One that is held counts once a call has claimed it.
	 * With `delivered`, each counts only then.
	 *
	 * @param {import('./money-types.js').PaidOptions} options
	 * @returns {Promise<boolean>}
	 */
	async paid(options) {
		return openOf(this).database.paid(checkPaid(options));
	}

	/**
	 * Lists what a user has subscribed to: for each item, the best subscription.
	 *
	 * @param {{ subject: string, item?: string | undefined }} options `item`: only of this one
	 * @returns {Promise<import('./money-types.js').Entitlement[]>}
	 */
	async entitlements(options) {
		const rows = await openOf(this).database.entitlements(checkEntitlementOptions(options));
		return rows.map(toEntitlement);
	}
}

/** @param {MoneyMethods} urlmode */
function openOf(urlmode) {
	const internals = internalsOf(urlmode);
	if (internals.isClosed()) throw new UrlModeClosedError();
	return internals;
}

/**
 * @param {string | undefined} provider
 * @param {Date | undefined} since
 */
const filterOf = (provider, since) => ({ provider: provider === undefined ? null : checkProvider(provider), since: checkSince(since) });
