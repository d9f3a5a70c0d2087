// The worked example: an MCP tool that connects the user's account at a provider
// through the browser.

import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { ElicitationTimeoutError } from 'urlmode';

const TTL = 300_000;
const PROGRESS = {
	opened: 'The page is open in the browser.',
	processing: 'The provider is working on it.',
};

const REASONS = {
	access_denied: 'you refused',
	expired: 'nobody signed in in time',
	not_opened: 'the client did not open the page',
	timeout: 'nobody signed in in time',
};

/**
 * Registers the tool `connect_account`.
 *
 * @param {import('@modelcontextprotocol/sdk/server/mcp.js').McpServer} mcp
 * @param {{ urlmode: import('urlmode').UrlMode, openid: import('./openid.mjs').OpenIdClient,
 *     accounts: Map<string, object>, ttl?: number }} services
 *     accounts: the server's own map of subject → { name, tokens }; ttl: the
 *     milliseconds that the user has
 */
export function registerConnectAccount(mcp, { urlmode, openid, accounts, ttl = TTL }) {
	mcp.registerTool('connect_account', {
		title: 'Connect an account',
		description: 'Connects your Demo Account: you sign in there with your browser.',
	}, async ({ authInfo, sessionId, requestId, signal, sendNotification, _meta }) => {
		if (!mcp.server.getClientCapabilities()?.elicitation?.url) {
			return failed('This MCP client cannot send its user to a web page (elicitation.url).');
		}

		// Only the MCP authorization decides who the user is.
		const owner = { subject: authInfo.extra.subject, session: sessionId };

		const { elicitationId, url, returnUrl } = await urlmode.create({
			...owner,
			provider: 'demo',
			kind: 'oauth',
			targetUrl: ({ returnUrl }) => openid.authorizationUrl(returnUrl),
			pkce: true,
			ttl,
		});
		const notifyCompleted = mcp.server.createElicitationCompletionNotifier(
			elicitationId, { relatedRequestId: requestId });

		try {
			const answer = await mcp.server.elicitInput({
				mode: 'url',
				elicitationId,
				url,
				message: 'Sign in to your Demo Account to connect it.',
			}, { timeout: ttl, signal, relatedRequestId: requestId });

			if (answer.action !== 'accept') {
				// Whether its user has refused, the client does not say. The next call has a page of its own.
				await urlmode.abandon(elicitationId, { ...owner, reason: 'not_opened' });
				return notConnected('not_opened');
			}
			const outcome = await urlmode.waitForCompletion(elicitationId, {
				...owner,
				timeout: ttl,
				signal,
				onProgress: progressReporter(sendNotification, _meta?.progressToken),
			});
			await notifyCompleted();

			if (outcome.action !== 'accept') {
				return notConnected(outcome.reason);
			}
			const account = await connect(urlmode, elicitationId, owner, async () => {
				accounts.set(owner.subject, await openid.exchange(outcome, returnUrl));
				return accounts.get(owner.subject);
			});
			return { content: [{ type: 'text', text: `Connected the account of ${account.name}.` }] };
		} catch (error) {
			const reason = signal.aborted ? 'aborted' : isTimeout(error) ? 'timeout' : 'failed';
			await abandon(urlmode, elicitationId, { ...owner, reason });
			if (reason === 'timeout') {
				return notConnected(reason);
			}
			throw error;
		}
	});
}

/**
 * Claims the outcome before its code is exchanged. The end of the claim says how
 * that went, and the page in the browser then says the same.
 */
async function connect(urlmode, elicitationId, owner, exchange) {
	const claim = await urlmode.beginClaim(elicitationId, owner);
	try {
		const account = await exchange();
		await claim.fulfil();
		return account;
	} catch (error) {
		await claim.release('exchange_failed');
		throw error;
	}
}

/** Cancels the elicitation, so that the page in the browser reports it. A completed row stays as it is. */
async function abandon(urlmode, elicitationId, options) {
	try {
		await urlmode.cancel(elicitationId, options);
	} catch {
		// If the database is unavailable, the elicitation expires by itself.
	}
}

/** Sends progress, so that the client's request does not time out while its user is in the browser. */
function progressReporter(sendNotification, progressToken) {
	let progress = 0;

	return async (status) => {
		if (progressToken === undefined) {
			return;
		}
		progress += 1;
		await sendNotification({
			method: 'notifications/progress',
			params: { progressToken, progress, message: PROGRESS[status] },
		});
	};
}

/** Whether the wait timed out, or the client did not respond to the elicitation. */
function isTimeout(error) {
	return error instanceof ElicitationTimeoutError || error.code === ErrorCode.RequestTimeout;
}

function notConnected(reason) {
	return failed(`No account was connected: ${REASONS[reason] ?? reason}.`);
}

function failed(text) {
	return { content: [{ type: 'text', text }], isError: true };
}
