// A checkout at Mollie, whose webhooks prove nothing: they name a payment, and
// whoever wants to know more asks Mollie's API.

/**
 * @typedef {{ value: string, currency: string }} Amount
 *
 * @typedef {object} Payment the used part of Mollie's
 * @property {string} id
 * @property {string} status
 * @property {Amount} amount
 * @property {{ elicitationId?: string }} [metadata]
 * @property {{ checkout: { href: string } }} _links
 * @property {{ refunds?: { id: string, amount: Amount, status: string }[], chargebacks?: { id: string, amount: Amount,
 *     reversedAt: string | null }[] }} [_embedded]
 *
 * @param {string} path
 * @param {object} [body]
 */
async function mollie(path, body) {
	const response = await fetch(`https://api.mollie.com/v2/${path}`, {
		method: body ? 'POST' : 'GET',
		headers: { authorization: `Bearer ${process.env.MOLLIE_API_KEY}`, 'content-type': 'application/json' },
		...body && { body: JSON.stringify(body) },
	});
	if (!response.ok) throw new Error(`Mollie answers ${response.status}`);
	return /** @type {Payment} */ (await response.json());
}

/**
 * For `targetUrl`. The payment is the checkout.
 *
 * @param {import('urlmode').CallbackUrls} way
 */
export async function createPayment({ elicitationId, returnUrl, cancelUrl, webhookUrl }) {
	const payment = await mollie('payments', {
		amount: { value: '10.50', currency: 'EUR' }, description: 'The report', metadata: { elicitationId },
		redirectUrl: returnUrl, cancelUrl, webhookUrl,
	});
	return { url: payment._links.checkout.href, checkout: payment.id };
}

/** Mollie's words for the states of payments and refunds. Nobody has paid yet while one is `open`. */
const PAYMENTS = /** @type {const} */ ({
	paid: 'paid', pending: 'processing', authorized: 'processing', failed: 'failed', expired: 'failed', canceled: 'cancelled',
});
const REFUNDS = /** @type {const} */ ({
	refunded: 'paid', processing: 'processing', pending: 'processing', queued: 'processing', failed: 'failed', canceled: 'cancelled',
});

/**
 * For `recheck`: all that Mollie has of the payment. The references in its events are those that a stranger may
 * have sent, so it asks about the payment that `createPayment` has made.
 *
 * @param {import('urlmode').Recheck} event
 * @returns {Promise<import('urlmode').Entries>}
 */
export async function recheck({ checkout }) {
	const payment = await mollie(`payments/${encodeURIComponent(String(checkout))}?embed=refunds,chargebacks`);
	const { refunds = [], chargebacks = [] } = payment._embedded ?? {};
	const status = PAYMENTS[/** @type {keyof PAYMENTS} */ (payment.status)];
	const names = { checkout: payment.id, elicitationId: payment.metadata?.elicitationId };
	return {
		payments: status ? [{ reference: payment.id, ...priceOf(payment), status, ...names }] : [],
		refunds: [
			...refunds.map((refund) => ({
				reference: refund.id, payment: payment.id, ...priceOf(refund), status: REFUNDS[/** @type {keyof REFUNDS} */ (refund.status)],
			})),
			...chargebacks.map((chargeback) => ({
				reference: chargeback.id, payment: payment.id, ...priceOf(chargeback),
				status: chargeback.reversedAt ? /** @type {const} */ ('cancelled') : /** @type {const} */ ('paid'),
			})),
		],
	};
}

/** @param {{ amount: Amount }} of something @returns in minor units */
function priceOf({ amount: { value, currency } }) {
	return { amount: Number(value.replace('.', '')), currency };
}
