// Something that was accepted, and that a call can claim under a lease.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { payment, setUp, signature } from './database.js';

export const RESULT = { content: [{ type: 'text', text: 'The report.' }] };

/** What can be claimed under a lease, and how it comes to its accept. */
export const KINDS = {
	payment: { wanted: payment, accept: ({ callback }, id, owner) => callback.paid(id, owner) },
	signature: {
		wanted: signature,
		accept: ({ callback }, id, owner) => callback.event(id, 'accepted', { ...owner, result: { reference: 'envelope_1' } }),
	},
};

/** Something that is accepted, of an owner of its own. */
export async function accepted(t, { wanted, accept } = KINDS.payment, settings = {}) {
	const fixture = await setUp(t, settings);
	const owner = { subject: `user-${randomUUID()}`, session: '' };
	const create = () => fixture.urlmode.create({ ...wanted, ...owner, item: 'report:42' });
	const { elicitationId: id } = await create();
	assert.equal(await accept(fixture, id, owner), 'accept');
	const sql = async (text, ...values) => (await fixture.admin.query(text, values)).rows;
	return {
		...fixture, owner, create, id, sql,
		begin: (options, instance = fixture.urlmode) => instance.beginClaim(id, { ...owner, ...options }),
		isListed: async () => (await fixture.urlmode.unclaimed()).some(({ elicitationId }) => elicitationId === id),
		isResumed: async () => (await create()).elicitationId === id,
		/** What the death of its process does in time. */
		endLease: () => sql('UPDATE urlmode.lease SET ends_at = now() WHERE elicitation = $1', id),
		outcomeOf: () => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0 }),
	};
}
