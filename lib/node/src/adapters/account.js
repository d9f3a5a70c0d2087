// Connects an account of the user: the step that all adapters share.

import { createHash } from 'node:crypto';

import { AccountProvider } from '../accounts/account-provider.js';
import { failureResult } from './messages.js';
import { runWithElicitation } from './with-elicitation.js';

/** @typedef {import('./types.js').AccountOptions} AccountOptions */

/**
 * The outcome is claimed before the code is exchanged. Of calls for the same
 * thing, on whichever instances, one exchanges it.
 *
 * @template R
 * @param {AccountOptions} options
 * @param {import('./types.js').Call} call
 * @param {(account: import('./types.js').Account) => R | Promise<R>} body
 */
export async function runWithAccount({ description, client, scopes, requiredScopes, variables, parameters, ...options }, call, body) {
	const preset = { provider: options.provider, description, client, scopes, requiredScopes, variables, parameters };
	const provider = await AccountProvider.open(preset);
	return runWithElicitation({
		...options, kind: /** @type {const} */ ('oauth'), pkce: provider.usesPkce,
		resumeKey: options.resumeKey ?? resumeKeyOf(options.message, preset),
		about: { client: client.id, description, variables, scopes, parameters },
		targetUrl: ({ returnUrl }) => provider.authorizationUrl(returnUrl),
	}, call, async (accepted) => {
		const { elicitationId } = accepted;
		const connected = await provider.connect(accepted);
		if ('tokens' in connected) return body({ ...connected, elicitationId });
		const { reason, detail } = connected;
		process.emitWarning(`no account was connected at ${options.provider}: ${reason} (${detail}), elicitation ${elicitationId}`,
			{ type: 'UrlModeWarning', code: 'URLMODE_ACCOUNT' });
		return failureResult('cancel', reason);
	});
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
