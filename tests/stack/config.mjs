// Prints the configuration of a development stack: the demo's OpenID provider
// and checkout, and every provider that is shipped with a webhook, with secrets
// made up for this stack. Its arguments are members of the configuration,
// KEY=VALUE. Also writes secrets/passwords.sql: a process of its own would take longer to
// start than both.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import process from 'node:process';

import { describedIn, entryOf, SHIPPED } from '../deliveries/support.mjs';
import { setPasswords } from './passwords.mjs';

const given = Object.fromEntries(process.argv.slice(2).map((pair) => {
	const [key, ...value] = pair.split('=');
	return [key, value.join('=')];
}));

const text = () => randomBytes(24).toString('base64url');

const described = Object.fromEntries(await Promise.all(describedIn(SHIPPED).map(async ({ name, content }) => [name, await entryOf(name, content, {
	text, webhook: `${given.base_url}/webhook/${name}`,
	hex: () => randomBytes(32).toString('hex'), standard: () => `whsec_${randomBytes(24).toString('base64')}`,
})])));

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
		checkout: { kind: 'payment', display_name: 'Demo Checkout', description: 'stripe', mode: 'test', secrets: [`whsec_${text()}`] },
		...described,
	},
}, undefined, '\t'));
writeFileSync('secrets/passwords.sql', setPasswords('secrets'));
