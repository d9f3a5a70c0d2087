// A client program of one language and a server of another.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { goToCheckout, settle } from './adapters.mjs';
import { callTool } from './programs.mjs';

/** The protocol's revisions with URL mode. */
export const REVISIONS = ['2025-11-25', '2026-07-28'];

/**
 * Its user declines, and then buys the report of an example.
 *
 * @param {import('./fixture.mjs').Fixture} fixture
 * @param {Parameters<typeof import('./programs.mjs').callTool>[0]} client
 * @param {{ url: string, revision: string, token: string }} server
 */
export async function buyReport(fixture, client, server) {
	const call = { ...server, tool: 'buy_report' };
	const declined = await callTool(client, { ...call, action: 'decline' });
	assert.equal(declined.asked, 1, JSON.stringify(declined));
	assert.match(declined.text ?? JSON.stringify(declined), /^Not done: /);

	const reference = `cs_${randomUUID()}`;
	const paid = await callTool(client, call, async (asked) => {
		await settle(fixture, await goToCheckout(fixture, asked), 'paid', { amount: 1050, currency: 'EUR', reference });
	});
	assert.deepEqual(paid, { text: `Paid with ${reference}.`, asked: 1 });
}
