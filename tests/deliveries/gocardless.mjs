// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { expects, forged, ID, inHeader, signed } from './support.mjs';

export function deliveries() {
	const deliver = signed('webhook-signature', 'gc-secret');
	const one = (id, resource_type, action, links, metadata = { elicitation_id: ID }) => ({
		id, created_at: '2023-11-14T22:13:20Z', resource_type, action, links, metadata: {}, details: {}, resource_metadata: metadata,
	});
	const payment = (id, action) => one(id, 'payments', action, { payment: 'PM1' });
	const asks = (id, type, reference = 'PM1') => expects('recheck', type, { reference }, id);

	return {
		site: { secrets: ['gc-secret'] },
		deliveries: [
			deliver('several', { events: [
				one('EV1', 'billing_requests', 'payer_details_confirmed', { billing_request: 'BRQ1' }),
				one('EV2', 'billing_requests', 'fulfilled', { billing_request: 'BRQ1' }),
				one('EV3', 'mandates', 'created', { mandate: 'MD1' }, {}),
			] },
			expects('ignore', 'billing_requests.payer_details_confirmed', { reference: 'BRQ1' }, 'EV1'),
			asks('EV2', 'billing_requests.fulfilled', 'BRQ1'), expects('ignore', 'mandates.created', { id: null }, 'EV3')),
			// A debit that the bank refuses, then another that comes, and its refund.
			deliver('failed', { events: [payment('EV4', 'failed')] }, asks('EV4', 'payments.failed')),
			deliver('then-confirmed', { events: [payment('EV5', 'confirmed')] }, asks('EV5', 'payments.confirmed')),
			deliver('charged-back', { events: [payment('EV6', 'charged_back')] }, asks('EV6', 'payments.charged_back')),
			// Their metadata are their own.
			...['created', 'paid', 'failed', 'funds_returned', 'refund_settled'].map((action, n) => (
				deliver(`refund-${action}`, { events: [one(`EV1${n}`, 'refunds', action, { refund: 'RF1', payment: 'PM1' }, {})] },
					expects('recheck', `refunds.${action}`, { reference: 'PM1', id: null }, `EV1${n}`)))),
			...['chargeback_cancelled', 'chargeback_settled'].map((action, n) => (
				deliver(action, { events: [payment(`EV2${n}`, action)] }, asks(`EV2${n}`, `payments.${action}`)))),
			deliver('none', { events: [] }),
			forged(deliver('', { events: [payment('EV7', 'confirmed')] }), { 'webhook-signature': '0'.repeat(64) }),
		],
	};
}

export const sender = {
	event: (id) => ({
		events: [{
			id: `EV${randomUUID()}`, resource_type: 'payments', action: 'confirmed', links: { payment: `PM${id}` },
			resource_metadata: { elicitation_id: id },
		}],
	}),
	sign: inHeader('Webhook-Signature'),
};
