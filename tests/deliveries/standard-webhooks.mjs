// SPDX-License-Identifier: MIT
import { sign } from 'node:crypto';
import { ed25519, ED25519_PUBLIC, event, hmac, ID, json, NOW, PAID, signStandard } from './support.mjs';

/** The same with these prefixes of the headers' names, and with deliveries more. */
export function standardDeliveries(prefix, extra = []) {
	const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
	const deliver = (id, type, data, effect, more, signature) => {
		const body = json({ type, timestamp: '2023-11-14T22:13:20Z', data });
		const text = `${id}.${NOW}.${body}`;
		const v1 = hmac('sha256', key, text, 'base64');
		const v1a = sign(null, Buffer.from(text), ed25519).toString('base64');
		return {
			name: id, body,
			headers: {
				[`${prefix}-id`]: id, [`${prefix}-timestamp`]: `${NOW}`,
				[`${prefix}-signature`]: signature?.(v1, v1a) ?? `v1,${v1}`,
			},
			...effect === null ? { verdict: 'forged' }
				: { verdict: 'good', events: [event(effect, type, id, more)] },
		};
	};
	const data = { elicitation_id: ID, payment_id: 'pay_1', total_amount: 1999, currency: 'USD' };
	const amount = { reference: 'pay_1', amount: 1999, currency: 'USD' };

	return {
		site: { secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `whpk_${Buffer.from(ED25519_PUBLIC, 'hex').toString('base64')}`] },
		deliveries: [
			deliver('msg_paid', 'payment.succeeded', data, 'paid', amount),
			deliver('msg_v1a', 'payment.succeeded', data, 'paid', amount, (v1, v1a) => `v1a,${v1a}`),
			deliver('msg_both', 'payment.succeeded', data, 'paid', amount, (v1, v1a) => `v1a,${v1a} v1,${v1}`),
			deliver('msg_metadata', 'payment.failed', { metadata: { elicitation_id: ID }, id: 'p' }, 'attempt_failed', { reference: 'p' }),
			deliver('msg_refunded', 'payment.refunded', { ...data, total_amount: 999 }, 'refunded', { ...amount, amount: 999 }),
			deliver('msg_cancelled', 'payment.cancelled', data, 'cancelled', amount),
			deliver('msg_expired', 'payment.expired', data, 'expired', amount),
			deliver('msg_processing', 'payment.processing', data, 'processing', amount),
			deliver('msg_signed', 'document.signed', data, 'accepted', amount),
			deliver('msg_other', 'subscription.renewed', data, 'ignore', { reference: 'pay_1' }),
			// A name with a full stop could be cut elsewhere.
			deliver('msg.paid', 'payment.succeeded', data, 'recheck', { reference: 'pay_1' }),
			deliver('msg_v2', 'payment.succeeded', data, null, {}, (v1) => `v2,${v1}`),
			deliver('msg_hmac_as_v1a', 'payment.succeeded', data, null, {}, (v1) => `v1a,${v1}`),
			deliver('msg_header_twice', 'payment.succeeded', data, null, {}, (v1) => `v1,${v1}, v1,${v1}`),
			...extra.map((one) => one(key, data)),
		],
	};
}

export const deliveries = () => standardDeliveries('webhook');

export const stack = ({ standard }) => ({ display_name: 'Standard Webhooks', secrets: [standard()] });

/** A sender that signs with the class of this npm package. */
export const standardSender = (name, prefix) => ({
	event: (id, what, { amount, currency } = PAID) => ({
		type: { paid: 'payment.succeeded', failed: 'payment.failed', expired: 'payment.expired', processing: 'payment.processing' }[what],
		timestamp: new Date().toISOString(),
		data: { elicitation_id: id, amount, currency },
	}),
	sign: async (body, { secret, timestamp }) => {
		const { Webhook } = await import(name);
		return signStandard(new Webhook(secret), prefix, body, timestamp);
	},
});

export const sender = standardSender('standardwebhooks', 'webhook');
