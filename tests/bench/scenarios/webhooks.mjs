// Signed webhooks: what Stripe sends when a Checkout session is paid, about
// 4 KB, each for a distinct pending payment.

import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { withListeners } from '../listeners.mjs';
import { load } from '../load.mjs';
import { FOLDER } from '../paths.mjs';
import { writeRequests } from '../requests.mjs';

const BODY_LENGTH = 4_096;
const PRICE = { amount: 4_200, currency: 'eur' };

const file = path.join(FOLDER, 'webhooks.requests');

/** The members that a session has, in their order; the metadata make it as long as it is. */
function event(id) {
	const object = {
		id: `cs_live_${randomBytes(24).toString('hex')}`, object: 'checkout.session', after_expiration: null,
		allow_promotion_codes: false, amount_subtotal: PRICE.amount, amount_total: PRICE.amount,
		automatic_tax: { enabled: false, status: null }, billing_address_collection: 'auto',
		cancel_url: 'https://callback.example.com/payment/stripe/cancel?state=', client_reference_id: id,
		created: 1_760_000_000, currency: PRICE.currency,
		customer_details: {
			address: { city: 'Graz', country: 'AT', line1: 'Herrengasse 1', line2: null, postal_code: '8010', state: null },
			email: 'user@example.com', name: 'A User', phone: null, tax_exempt: 'none', tax_ids: [],
		},
		livemode: true, locale: 'auto', mode: 'payment', payment_intent: `pi_${randomBytes(12).toString('hex')}`,
		payment_method_types: ['card', 'link', 'sepa_debit'], payment_status: 'paid', status: 'complete',
		total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 }, metadata: {},
	};
	const whole = {
		id: `evt_${randomBytes(12).toString('hex')}`, object: 'event', api_version: '2025-09-30.clover',
		created: 1_760_000_000, data: { object }, livemode: true, pending_webhooks: 1,
		request: { id: null, idempotency_key: null }, type: 'checkout.session.completed',
	};
	for (let n = 0; JSON.stringify(whole, undefined, 2).length < BODY_LENGTH - 80; n++) {
		object.metadata[`key_${n}`] = 'what the merchant keeps beside a session';
	}
	return JSON.stringify(whole, undefined, 2);
}

function delivery(id, secret, timestamp) {
	const body = event(id);
	const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
	return [
		'POST /webhook/stripe HTTP/1.1', 'Host: 127.0.0.1', 'Accept: */*; q=0.5, application/xml',
		'User-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)', 'Content-Type: application/json; charset=utf-8',
		'Cache-Control: no-cache', `Stripe-Signature: t=${timestamp},v1=${signature},v0=${'0'.repeat(64)}`,
		`Content-Length: ${Buffer.byteLength(body)}`, '', body,
	].join('\r\n');
}

/** Writes the deliveries for a range of the elicitations, and answers the file. */
export async function deliveries(bed, from, to) {
	const { providers: { stripe } } = JSON.parse(readFileSync(bed.stack.env.URLMODE_CONFIG, 'utf8'));
	const timestamp = Math.floor(Date.now() / 1000);

	await writeRequests(file, function* () {
		for (const { id } of bed.elicitations.slice(from, to)) {
			yield { status: 200, request: delivery(id, stripe.secrets[0], timestamp) };
		}
	}());
	return file;
}

/** @param {{ count: number, seconds: number, warmUp: number }} options count: as many deliveries at the most */
export async function webhooks(bed, { count, seconds, warmUp }) {
	await bed.fill('payment', { to: count });
	await deliveries(bed, 0, count);
	const { sent, classes: { 0: tally } } = await withListeners(bed, { count: 1, channel: 'urlmode' },
		() => load({ port: bed.port, file, seconds, warmUp }));
	const rows = await bed.completed('payment');
	if (rows !== sent) throw new Error(`${sent} deliveries, but ${rows} payments are completed`);
	return tally;
}
