// SPDX-License-Identifier: MIT
import { expects, forged, hmac, ID, signed } from './support.mjs';

export function deliveries() {
	const key = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00';
	const deliver = signed('hmacsignature', key, (body) => hmac('sha256', Buffer.from(key, 'hex'), body, 'base64'));
	const holder = (type, environment = 'live', reference = ID) => ({
		type, environment, timestamp: '2023-11-14T22:13:20+01:00',
		data: {
			balancePlatform: 'Tests',
			accountHolder: { id: 'AH1', reference, legalEntityId: 'LE1', status: 'active', capabilities: { receivePayments: { allowed: true, verificationStatus: 'valid' } } },
		},
	});
	const updated = 'balancePlatform.accountHolder.updated';
	const good = deliver('updated', holder(updated), expects('recheck', updated, { reference: 'AH1' }));

	return {
		site: { secrets: [key] },
		deliveries: [
			good, deliver('test', holder(updated, 'test'), expects('other_mode', updated, { reference: 'AH1' })),
			deliver('created', holder('balancePlatform.accountHolder.created'), expects('ignore', 'balancePlatform.accountHolder.created', { reference: 'AH1' })),
			deliver('transfer', { type: 'balancePlatform.transfer.updated', environment: 'live', data: { id: 'TR1', reference: ID } },
				expects('ignore', 'balancePlatform.transfer.updated', { id: null })),
			forged(good, { hmacsignature: hmac('sha256', key, good.body, 'base64') }),
			{ ...forged(good, {}), name: 'no signature', verdict: 'unsigned' },
		],
	};
}

/** What the configuration of a stack has. */
export const stack = ({ hex }) => ({ kind: 'signature', display_name: 'Adyen', secrets: [hex().toUpperCase()] });

export const sender = {
	event: (id) => ({
		type: 'balancePlatform.accountHolder.updated', environment: 'live', data: { accountHolder: { id: `AH-${id}`, reference: id } },
	}),
	sign: async (body, { secret }) => {
		const { default: adyen } = await import('@adyen/api-library');
		return { HmacSignature: new adyen.hmacValidator().calculateHmac(body, secret) };
	},
};
