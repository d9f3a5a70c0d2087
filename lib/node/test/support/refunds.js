// A payment of which something goes back.

import { randomUUID } from 'node:crypto';

import { payment, setUp } from './database.js';

export const newReference = () => `pay_${randomUUID()}`;

/** A payment of 10.50 that was proved, for an item. */
export async function start(t) {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const owner = { subject: `user-${randomUUID()}`, session: '' };
	const create = () => urlmode.create({ ...payment, ...owner, item: 'report:42' });
	const { elicitationId: id } = await create();
	const reference = newReference();
	const refund = (own, amount, more) => callback.event(id, 'refunded', { reference, refund: own && `${reference}-${own}`, amount, ...more });
	const reversal = (own, amount, more) => callback.event(id, 'refund_reversed', { reference, refund: `${reference}-${own}`, amount, ...more });
	const outcomeOf = () => urlmode.waitForCompletion(id, { ...owner, timeout: 0 });
	const listed = async () => (await urlmode.unclaimed()).filter(({ subject }) => subject === owner.subject);
	const decide = async (decision, ref = reference) => (await admin.query(
		"SELECT urlmode.decide_payment('demo', $1, $2, 'ann', 'asked the shop') AS outcome", [ref, decision])).rows[0].outcome;
	return { ...fixture, owner, create, id, reference, refund, reversal, outcomeOf, listed, decide, pay: (more) => callback.paid(id, { ...owner, reference, ...more }) };
}
