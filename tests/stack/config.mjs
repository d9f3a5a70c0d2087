// Prints the configuration of a development stack: the demo's OpenID provider
// and checkout, GitHub, and every payment provider that is shipped, with secrets
// made up for this stack. Its arguments are members of the configuration,
// KEY=VALUE. Also writes secrets/passwords.sql: a process of its own would take longer to
// start than both.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import process from 'node:process';

import { setPasswords } from './passwords.mjs';

const given = Object.fromEntries(process.argv.slice(2).map((pair) => {
	const [key, ...value] = pair.split('=');
	return [key, value.join('=')];
}));

const text = () => randomBytes(24).toString('base64url');
const standard = () => `whsec_${randomBytes(24).toString('base64')}`;
const webhook = (provider) => `${given.base_url}/webhook/${provider}`;

const payment = {
	'checkout': {
		display_name: 'Demo Checkout', description: 'stripe', mode: 'test', secrets: [`whsec_${text()}`],
	},
	'stripe': { display_name: 'Stripe', secrets: [`whsec_${text()}`] },
	'standard-webhooks': { display_name: 'Standard Webhooks', secrets: [standard()] },
	'svix': { display_name: 'Svix', secrets: [standard()] },
	'polar': { display_name: 'Polar', secrets: [`polar_whs_${text()}`] },
	'paypal': {
		display_name: 'PayPal', certificate: 'secrets/paypal.pem',
		constants: { webhook_id: 'WH-DEVELOPMENT' },
	},
	'square': {
		display_name: 'Square', secrets: [text()], constants: { notification_url: webhook('square') },
	},
	'adyen': { display_name: 'Adyen', secrets: [randomBytes(32).toString('hex').toUpperCase()] },
	'lemon-squeezy': { display_name: 'Lemon Squeezy', secrets: [text()] },
	'mollie': { display_name: 'Mollie' },
	'klarna': { display_name: 'Klarna' },
	'dropbox-sign': { kind: 'signature', display_name: 'Dropbox Sign', secrets: [randomBytes(32).toString('hex')] },
	'docusign': { kind: 'signature', display_name: 'DocuSign', secrets: [text()] },
	'pandadoc': { kind: 'signature', display_name: 'PandaDoc', secrets: [text()] },
	'persona': { kind: 'signature', display_name: 'Persona', secrets: [`wbhsec_${text()}`] },
	'adobe-acrobat-sign': { kind: 'signature', display_name: 'Acrobat Sign', constants: { client_id: text() } },
	'adyen-platforms': { kind: 'signature', display_name: 'Adyen', secrets: [randomBytes(32).toString('hex').toUpperCase()] },
	'chargebee': { display_name: 'Chargebee', secrets: [Buffer.from(`urlmode:${text()}`).toString('base64')] },
	...Object.fromEntries(['docuseal', 'documenso', 'veriff', 'yousign'].map((name) => [name, { kind: 'signature', secrets: [text()] }])),
	'onfido': { kind: 'signature', display_name: 'Onfido', secrets: [text()] },
	'plaid': { kind: 'signature', display_name: 'Plaid' },
	'twilio': { kind: 'signature', display_name: 'Twilio' },
	'slack': { kind: 'signature', display_name: 'Slack', secrets: [text()] },
	'meta': { kind: 'oauth', display_name: 'Meta', description: 'meta', secrets: [text()], constants: { verify_token: text() } },
	'zoom': { kind: 'oauth', display_name: 'Zoom', description: 'zoom', secrets: [text()] },
	'worldpay': { display_name: 'Worldpay', secrets: [text()], constants: { key_id: '1' } },
	'razorpay': { display_name: 'Razorpay', secrets: [text()], return_secrets: [text()] },
	...Object.fromEntries(['cashfree', 'checkout-com', 'coinbase-business', 'coinbase-commerce', 'paypal-recheck', 'flutterwave', 'flutterwave-v4', 'phonepe', 'truelayer', 'gocardless', 'mercado-pago',
		'mollie-events', 'paddle', 'paystack', 'shopify', 'xendit'].map((name) => [name, { secrets: [text()] }])),
};

console.log(JSON.stringify({
	base_url: given.base_url,
	keys_file: 'keys',
	database_url: given.database_url,
	user_check: given.user_check,
	// The demo's provider, which is another site for the browser.
	...given.user_check === 'openid' && {
		openid: {
			issuer: given.issuer, client_id: 'urlmode-signin', authorization_endpoint: `${given.issuer}/auth`,
			jwks_file: 'jwks.json', refresh_file: 'jwks-refresh', scope: 'openid email', claim: 'email',
		},
	},
	metrics_file: 'metrics',
	providers_dir: given.providers_dir,
	providers: {
		demo: { kind: 'oauth', display_name: 'Demo Account', issuer: given.issuer },
		account: { kind: 'oauth', display_name: 'An account' },
		intake: { kind: 'input', display_name: 'Intake' },
		approvals: { kind: 'approval', display_name: 'Approvals', ...given.user_check !== 'confirm' && { four_eyes: true } },
		github: { kind: 'oauth', display_name: 'GitHub', description: 'github', secrets: [text()] },
		...Object.fromEntries(Object.entries(payment).map(([name, more]) => [name, { kind: 'payment', ...more }])),
	},
}, undefined, '\t'));
writeFileSync('secrets/passwords.sql', setPasswords('secrets'));
