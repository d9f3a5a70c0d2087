// Connects an account of the user: the step that all adapters share.

import { NotConnected } from '../accounts/not-connected.js';
import { AccountProvider } from '../accounts/provider.js';
import { finish } from '../core/internals.js';
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
 * @param {{ isFinished?: boolean, isInUse?: () => Promise<boolean>, beforeAsking?: () => Promise<void>, isGivenBack?: (id: string) => Promise<boolean> }} [how]
 *     `isFinished`: `close` waits for a claim, the exchange and its body; `isInUse` of `AccountProvider.connect`; `beforeAsking` is called when
 *     there is nothing to resume, and rejects if nobody needs to be asked; `isGivenBack` of `runWithElicitation`
 * @returns {Promise<import('./with-elicitation.js').Result<R>>}
 */
export async function runWithAccount({ description, client, scopes, requiredScopes, variables, parameters, about, ...options }, call, body, { isFinished = false, isInUse, beforeAsking, isGivenBack } = {}) {
	const preset = { provider: options.provider, description, client, scopes, requiredScopes, variables, parameters };
	const provider = await AccountProvider.open(preset);
	const exchange = async (/** @type {import('./types.js').Accepted} */ accepted) => {
		const connected = await provider.connect(accepted, isInUse);
		if ('tokens' in connected) return body({ ...connected, elicitationId: accepted.elicitationId });
		throw new NotConnected(connected.reason, connected.detail);
	};
	return runWithElicitation({
		...options, kind: /** @type {const} */ ('oauth'), pkce: provider.usesPkce,
		about: { ...about, client: client.id, description, variables, scopes, parameters },
		targetUrl: async ({ returnUrl }) => {
			await beforeAsking?.();
			return provider.authorizationUrl(returnUrl);
		},
	}, call, exchange, undefined, { isGivenBack, ...isFinished && { during: (begin) => finish(options.urlmode, begin()) } });
}
