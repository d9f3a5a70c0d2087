// A checkout at Mollie, whose webhooks prove nothing: they name a payment, and
// whoever wants to know more asks Mollie's API.

/**
 * @typedef {object} Payment the used part of Mollie's
 * @property {string} id
 * @property {string} status
 * @property {{ value: string, currency: string }} amount
 * @property {{ elicitationId?: string }} [metadata]
 * @property {{ checkout: { href: string } }} _links
 *
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<Payment | undefined>} undefined: there is no such payment
 */
async function mollie(path, body) {
	const response = await fetch(`https://api.mollie.com/v2/${path}`, {
		method: body ? 'POST' : 'GET',
		headers: { authorization: `Bearer ${process.env.MOLLIE_API_KEY}`, 'content-type': 'application/json' },
		...body && { body: JSON.stringify(body) },
	});
	if (response.status === 404) return undefined;
	if (!response.ok) throw new Error(`Mollie answers ${response.status}`);
	return /** @type {Payment} */ (await response.json());
}

/**
 * For `targetUrl`.
 *
 * @param {import('urlmode').CallbackUrls} way
 */
export async function createPayment({ elicitationId, returnUrl, cancelUrl, webhookUrl }) {
	const payment = await mollie('payments', {
		amount: { value: '10.50', currency: 'EUR' }, description: 'The report', metadata: { elicitationId },
		redirectUrl: returnUrl, cancelUrl, webhookUrl,
	});
	return String(payment?._links.checkout.href);
}

/**
 * For `recheck`.
 *
 * @param {import('urlmode').Recheck} event
 * @returns {Promise<import('urlmode').Answer | undefined>}
 */
export async function recheck({ elicitationId, references, expected }) {
	for (const reference of references.toReversed()) {
		const payment = await mollie(`payments/${encodeURIComponent(reference)}`);
		// Somebody made the reference up, or it is somebody else's payment.
		if (payment?.metadata?.elicitationId !== elicitationId) continue;
		const { currency } = payment.amount;
		const amount = Number(payment.amount.value.replace('.', '')); // minor units
		const isExpected = typeof expected === 'object' && amount === expected.amount && currency === expected.currency;
		if (payment.status === 'paid' && isExpected) {
			return { action: 'accept', amount, currency, reference: payment.id, result: { reference: payment.id } };
		}
		if (payment.status === 'canceled') return { action: 'decline', reason: 'cancelled' };
		if (payment.status === 'failed') return { action: 'cancel', reason: 'payment_failed' };
		if (payment.status === 'expired') return { action: 'cancel', reason: 'expired' };
	}
}
