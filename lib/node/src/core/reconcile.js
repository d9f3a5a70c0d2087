// What a provider has, as a function of the caller lists it, beside what is here.

import { checkFunction, checkProvider, checkSince } from './arguments.js';
import { LISTED_MAX } from './contract-limits.js';
import { reconcile as compare } from './contract-rechecks.js';
import { checkEntries, hasEntries, toRows } from './entries.js';

/**
 * @param {import('./contract-calls.js').Query} query
 * @param {string} tenant whose
 * @param {import('./money-types.js').ReconcileOptions} options
 * @returns {Promise<import('./money-types.js').Reconciliation>}
 */
export async function reconcile(query, tenant, { provider, since, until = new Date(), listPayments }) {
	checkProvider(provider);
	if (checkSince(since) === null) throw new TypeError('since must be a Date');
	if (checkSince(until) === null) throw new TypeError('until must be a Date');
	checkFunction('listPayments', listPayments);
	const listed = await listPayments({ provider, since, until });
	if (!hasEntries(listed)) throw new TypeError('listPayments must return an object with payments and refunds');
	const rows = await compare(query, { tenant, provider, since, until, ...toRows(checkEntries(listed, LISTED_MAX)) });
	const of = (/** @type {string} */ what) => rows.filter((row) => row.what === what).map(toDifference);
	return { missingHere: of('missing_here'), missingThere: of('missing_there'), differs: of('differs') };
}

/**
 * @param {import('./contract-rechecks.js').ReconciledRow} row
 * @returns {import('./money-types.js').Difference}
 */
function toDifference({ kind, reference, payment, elicitation, amount, currency, their_amount: theirs, their_currency: theirCurrency }) {
	return {
		kind, reference, payment, elicitationId: elicitation,
		...amount !== null && { here: { amount: Number(amount), currency: String(currency) } },
		...theirs !== null && { there: { amount: Number(theirs), currency: String(theirCurrency) } },
	};
}
