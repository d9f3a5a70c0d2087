// Connects an account of the user: the step that all adapters share. Each brings
// its own `elicitUrl`.

import { createHash } from 'node:crypto';

import { AccountProvider } from '../accounts/account-provider.js';
import { failureResult } from './messages.js';

/**
 * @typedef {import('./types.js').AccountOptions} AccountOptions
 * @typedef {import('./types.js').BaseElicitOptions} BaseElicitOptions
 */

/**
 * The outcome is claimed before the code is exchanged. Of calls for the same
 * thing, on whichever instances, one exchanges it.
 *
 * @template {import('./types.js').MultiRoundResult} R
 * @param {AccountOptions} options
 * @param {(options: BaseElicitOptions) => Promise<R>} elicit
 * @returns {Promise<import('./types.js').ConnectedAccount | Exclude<R, { action: 'accept' }> | import('./types.js').NotConnectedAccount>}
 */
export async function connectAccount({ description, client, scopes, requiredScopes, variables, parameters, ...options }, elicit) {
	const preset = { provider: options.provider, description, client, scopes, requiredScopes, variables, parameters };
	const provider = await AccountProvider.open(preset);
	const outcome = await elicit({
		...options, kind: 'oauth', pkce: provider.usesPkce,
		resumeKey: options.resumeKey ?? resumeKeyOf(options.message, preset),
		targetUrl: ({ returnUrl }) => provider.authorizationUrl(returnUrl),
	});
	if (outcome.action !== 'accept') return /** @type {Exclude<R, { action: 'accept' }>} */ (outcome);
	const { elicitationId, returnUrl } = outcome;
	const connected = await provider.connect(outcome);
	if ('tokens' in connected) return { elicitationId, action: 'accept', reason: '', ...connected };
	const { reason, detail } = connected;
	process.emitWarning(`no account was connected at ${options.provider}: ${reason} (${detail}), elicitation ${elicitationId}`,
		{ type: 'UrlModeWarning', code: 'URLMODE_ACCOUNT' });
	return { elicitationId, action: 'cancel', reason, detail, returnUrl, toolResult: failureResult('cancel', reason) };
}

/**
 * A call that asks for other scopes, or as another client, is about something
 * else: it must not go on with this one's link.
 *
 * @param {string} message
 * @param {import('../accounts/types.js').ProviderOptions} preset
 */
function resumeKeyOf(message, { provider, description, client, scopes, variables, parameters }) {
	const question = JSON.stringify([message, description, client.id, scopes, variables, parameters]);
	return `${provider} account ${createHash('sha256').update(question).digest('base64url')}`;
}
