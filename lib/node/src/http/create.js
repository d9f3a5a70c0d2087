// `create` over HTTP: in one call, or in two where the target is made with the way back.

import { checkId, checkOwner, checkSignal, checkTarget } from '../core/arguments.js';
import { RESUME_ATTEMPTS } from '../core/contract-limits.js';
import { ElicitationExistsError, ElicitationLimitError, ElicitationSubscribedError } from '../core/errors.js';
import { checkTargetUrl } from '../core/url.js';
import { UrlModeApiError } from './api.js';

/**
 * @typedef {import('../core/types.js').AnyCreateOptions} AnyCreateOptions
 * @typedef {import('../core/types.js').AnyElicitation} AnyElicitation
 * @typedef {import('./api.js').Members} Members
 */

/**
 * @param {import('./api.js').Api} api
 * @param {string | undefined} name of the MCP server
 * @param {AnyCreateOptions} options
 * @returns {Promise<AnyElicitation>}
 */
export async function create(api, name, options) {
	const id = options.id === undefined ? crypto.randomUUID() : checkId(options.id);
	const members = { id, name, ...membersOf(options) };
	const { targetUrl: given, signal } = options;
	checkSignal(signal);
	try {
		if (typeof given !== 'function') return toElicitation(await api.call('create', { ...members, ...targetOf(given, options.kind) }, { signal }));
		for (let attempt = 1; ; attempt += 1) {
			// It writes nothing, unless there is something to go on with.
			const found = await api.call('create', members, { signal });
			if (found.needs === undefined) return toElicitation(found);
			const { id: elicitationId, return_url: returnUrl, cancel_url: cancelUrl, webhook_url: webhookUrl, amount } = found;
			const target = await given({
				elicitationId, returnUrl, cancelUrl: cancelUrl ?? undefined, webhookUrl: webhookUrl ?? undefined,
				...amount !== null && { amount },
			});
			const made = await api.call('create', { ...members, ...targetOf(target, options.kind) }, { signal });
			if (made.needs === undefined) return toElicitation(made);
			if (attempt === RESUME_ATTEMPTS) throw new ElicitationExistsError(id);
		}
	} catch (error) {
		throw toError(error, id, options);
	}
}

/**
 * What does not depend on the target.
 *
 * @param {AnyCreateOptions} options
 * @returns {Members}
 */
function membersOf(options) {
	const { provider, kind, item, resumeKey, expected, ttl, exclusive, subscription, clientId, about, traceparent, canRecheck, sameClient } = options;
	const { form, submitLabel, approver, fourEyes, stepUp, verifyTimeout, pkce } = /** @type {Members} */ (options);
	return {
		...checkOwner(options), provider, kind, item, resume_key: resumeKey, expected, ttl_ms: ttl, exclusive, subscription,
		client_id: clientId, same_client: sameClient, about, traceparent, can_recheck: canRecheck,
		form, submit_label: submitLabel, approver, four_eyes: fourEyes, step_up: stepUp, verify_ms: verifyTimeout, pkce,
	};
}

/**
 * @param {unknown} given
 * @param {import('../core/types.js').Kind} kind
 * @returns {{ target_url?: string, checkout?: string | undefined }}
 */
function targetOf(given, kind) {
	// The api refuses what a kind must not have.
	if (kind === 'input' || kind === 'approval') return given === undefined ? {} : { target_url: String(given) };
	const { url, checkout } = checkTarget(given, kind);
	return { target_url: checkTargetUrl(url, kind).href, checkout: checkout ?? undefined };
}

/**
 * @param {Members} answer
 * @returns {AnyElicitation}
 */
export function toElicitation({ id, url, return_url: returnUrl, cancel_url: cancelUrl, webhook_url: webhookUrl, approval_url: approvalUrl, expires_at: expiresAt, resumed }) {
	const optional = Object.fromEntries(Object.entries({ returnUrl, cancelUrl, webhookUrl }).map(([name, value]) => [name, value ?? undefined]));
	const link = approvalUrl ? { approvalUrl } : { url };
	return /** @type {AnyElicitation} */ ({ elicitationId: id, ...returnUrl && optional, ...link, expiresAt: new Date(expiresAt), resumed });
}

/**
 * @param {unknown} error
 * @param {string} id
 * @param {AnyCreateOptions} options
 */
function toError(error, id, { item = '' }) {
	if (!(error instanceof UrlModeApiError)) return error;
	switch (error.reason) {
	// That of another owner or tenant.
	case 'not_found':
	case 'conflict': return new ElicitationExistsError(id);
	case 'full': return new ElicitationLimitError();
	case 'subscribed': return new ElicitationSubscribedError(item);
	default: return error;
	}
}
