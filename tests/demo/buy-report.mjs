// The worked example of a payment: an MCP tool whose user pays in the browser.
// Only the provider's signed webhook proves that they did.

import { withElicitation } from 'urlmode/sdk';

const PRICE = { amount: 1050, currency: 'EUR' }; // minor units
const MINUTE = 60_000;

/**
 * Registers the tool `buy_report`.
 *
 * @param {import('@modelcontextprotocol/sdk/server/mcp.js').McpServer} mcp
 * @param {{ urlmode: import('urlmode').UrlMode, stripe: import('stripe').Stripe }} services
 */
export function registerBuyReport(mcp, { urlmode, stripe }) {
	mcp.registerTool('buy_report', {
		title: 'Buy the report',
		description: 'Buys the report for 10.50 EUR: you pay with your browser.',
	}, (call) => withElicitation({
		urlmode,
		server: mcp,
		call,
		// Not bound to the session: whoever has paid gets the report in the next one as well.
		subject: call.authInfo.extra.subject,
		provider: 'checkout',
		kind: 'payment',
		item: 'report',
		expected: PRICE,
		message: 'The report costs 10.50 EUR.',
		ttl: 35 * MINUTE,
		targetUrl: async ({ elicitationId, returnUrl, cancelUrl }) => {
			const session = await stripe.checkout.sessions.create({
				mode: 'payment',
				client_reference_id: elicitationId,
				payment_intent_data: { metadata: { elicitation_id: elicitationId } },
				success_url: returnUrl,
				cancel_url: cancelUrl,
				expires_at: Math.floor((Date.now() + 31 * MINUTE) / 1_000),
				line_items: [{ quantity: 1, price_data: {
					currency: PRICE.currency.toLowerCase(), unit_amount: PRICE.amount, product_data: { name: 'Report' },
				} }],
			});
			return session.url;
		},
	}, async ({ late, reference }) => {
		// It runs once for each payment. Where its answer was not written, the next call is given the same result.
		const before = late ? ' You had paid it before.' : '';
		return { content: [{ type: 'text', text: `Here is your report.${before} Paid with ${reference}.` }] };
	}));
}
