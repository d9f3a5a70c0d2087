// A client program of one language and a server of another.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { goToCheckout, settle } from './adapters.mjs';
import { callTool } from './programs.mjs';

/** The protocol's revisions with URL mode. */
export const REVISIONS = ['2025-11-25', '2026-07-28'];

/**
 * Its user buys the report of an example. It declines to open the page for another user.
 *
 * @param {import('./fixture.mjs').Fixture} fixture
 * @param {Parameters<typeof import('./programs.mjs').callTool>[0]} client
 * @param {{ url: string, revision: string, tokens: [string, string] }} server tokens: of the user, and of the other one. Where the
 *     server cannot know that its answer was written, the first would get his report again
 */
export async function buyReport(fixture, client, { tokens: [token, other], ...server }) {
	const call = { ...server, token, tool: 'buy_report' };
	const reference = `cs_${randomUUID()}`;
	const paid = await callTool(client, call, async (asked) => {
		await settle(fixture, await goToCheckout(fixture, asked), 'paid', { amount: 1050, currency: 'EUR', reference });
	});
	assert.deepEqual(paid, { text: `Paid with ${reference}.`, asked: 1 });

	const declined = await callTool(client, { ...call, token: other, action: 'decline' });
	assert.equal(declined.asked, 1, JSON.stringify(declined));
	assert.match(declined.text ?? JSON.stringify(declined), /The client did not open it: it declined/);
}
