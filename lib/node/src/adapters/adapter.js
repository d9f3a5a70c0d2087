// The functions that every adapter has, made of how its framework describes
// a tool call.

import { runUseAccount, runWithAccount } from '#accounts';
import { requiresInput } from './body-rounds.js';
import { runWithApproval, runWithInput } from './form.js';
import { runRequirePaid } from './require-paid.js';
import { runWithElicitation } from './with-elicitation.js';
import { RPC_INTERNAL_ERROR } from '../core/contract-limits.js';

/** Requests whose results are none of a tool. */
const NO_TOOLS = ['prompts/get', 'resources/read'];

/**
 * A prompt and a resource have no result that is one of a tool: what would be one is the error of the request.
 *
 * @param {import('./types.js').ToolResult} result
 */
function toError({ content, structuredContent }) {
	return Object.assign(new Error(content.map(({ text }) => text).join('\n')), { code: RPC_INTERNAL_ERROR, data: structuredContent });
}

/**
 * @template {{ call: unknown, server?: unknown }} Fields the options that say which call it is: `call` is what the framework passes
 *     to the tool beside its arguments, `server` the server that has the tool, where the call does not name it
 * @template More what a result can be beside that of the body
 * @param {(fields: Fields) => import('./types.js').Call} describe
 */
export function makeAdapter(describe) {
	/**
	 * Asks the user to open a page, waits until that is done, and runs the body
	 * with what came back. Without that, the result says what happened, or what to
	 * do next.
	 *
	 * The body runs once for each outcome. Its result is kept until a successful
	 * answer was written to the client: before that, the next call for the same thing
	 * is given that result. If the body throws, or its result is an error, the next
	 * call runs it again.
	 *
	 * @template R
	 * @template {boolean | undefined} [T=undefined]
	 * @template {import('./types.js').ElicitOptions['kind']} [K=import('./types.js').ElicitOptions['kind']]
	 * @param {import('./types.js').ElicitOptions & Fields & { typed?: T, kind: K }} options the same in all calls for the same thing
	 * @param {(accepted: import('./types.js').AcceptedOf<K>) => R | Promise<R>} body
	 * @returns {Promise<R | import('./types.js').Instead<T, More, R>>} the result of the tool
	 * @throws {import('../core/errors.js').ElicitationClientGoneError} if the client has closed its connection or session
	 * @throws {import('../core/errors.js').RequestStateError} if the call has a requestState of another user or request
	 * @throws the signal's reason, if the client cancelled the call
	 */
	async function withElicitation(options, body) {
		const { call, server, ...rest } = options;
		if ('subscription' in rest && rest.subscription) throw new TypeError('requirePaid asks for a subscription: withElicitation claims what was paid');
		return run(describe(options),
			(described) => runWithElicitation(/** @type {import('./types.js').ElicitOptions} */ (rest), described,
				/** @type {(accepted: import('./types.js').Accepted) => R | Promise<R>} */ (body)));
	}

	/**
	 * Connects an account at a provider of lib/providers, exchanges the code, and
	 * runs the body with the tokens.
	 *
	 * @template R
	 * @template {boolean | undefined} [T=undefined]
	 * @param {import('./types.js').AccountOptions & Fields & { typed?: T }} options the same in all calls
	 * @param {(account: import('./types.js').Account) => R | Promise<R>} body
	 * @returns {Promise<R | import('./types.js').Instead<T, More, R>>} the result of the tool
	 * @throws {import('../core/errors.js').ProviderUnavailableError}
	 * @throws the errors of `withElicitation`
	 */
	async function withAccount(options, body) {
		const { call, server, ...rest } = options;
		return run(describe(options),
			(described) => runWithAccount(/** @type {import('./types.js').AccountOptions} */ (rest), described, body));
	}

	/**
	 * Runs the body with an access token of the user's account, which the vault
	 * keeps. Where there is none that is good, or a scope is missing, the user
	 * is asked to connect the account first.
	 *
	 * @template R
	 * @template {boolean | undefined} [T=undefined]
	 * @param {import('./types.js').UseAccountOptions & Fields & { typed?: T }} options the same in all calls
	 * @param {(token: import('../vault/types.js').AccessToken) => R | Promise<R>} body
	 * @returns {Promise<R | import('./types.js').Instead<T, More, R>>} the result of the tool
	 * @throws {import('../core/errors.js').AccountUnavailableError} the token has expired, and the provider cannot refresh it just now
	 * @throws the errors of `withAccount`
	 */
	async function useAccount(options, body) {
		const { call, server, ...rest } = options;
		return run(describe(options),
			(described) => runUseAccount(/** @type {import('./types.js').UseAccountOptions} */ (rest), described, body));
	}

	/**
	 * Runs the body for a user who has subscribed to the item. Others are asked for the
	 * first payment of a subscription, as by `withElicitation`; who is past due or has
	 * paused gets the page of `manageUrl`. The body runs in each call, and its result is not kept.
	 *
	 * @template R
	 * @template {boolean | undefined} [T=undefined]
	 * @param {import('./types.js').RequirePaidOptions & Fields & { typed?: T }} options the same in all calls
	 * @param {(entitlement: import('./types.js').Entitlement) => R | Promise<R>} body
	 * @returns {Promise<R | import('./types.js').Instead<T, More, R>>} the result of the tool
	 * @throws the errors of `withElicitation`
	 */
	async function requirePaid(options, body) {
		const { call, server, ...rest } = options;
		return run(describe(options),
			(described) => runRequirePaid(/** @type {import('./types.js').RequirePaidOptions} */ (rest), described, body));
	}

	/**
	 * Asks the user to fill in a form on a page of the callback programs, and runs the
	 * body with what they have typed, which neither the client nor the model sees.
	 *
	 * @template R
	 * @template {boolean | undefined} [T=undefined]
	 * @param {import('./types.js').InputOptions & Fields & { typed?: T }} options the same in all calls for the same thing
	 * @param {(input: import('./types.js').Input) => R | Promise<R>} body
	 * @returns {Promise<R | import('./types.js').Instead<T, More, R>>} the result of the tool
	 * @throws the errors of `withElicitation`
	 */
	async function collectInput(options, body) {
		const { call, server, ...rest } = options;
		return run(describe(options),
			(described) => runWithInput(/** @type {import('./types.js').InputOptions} */ (rest), described, body));
	}

	/**
	 * Asks the user, or somebody else, for a decision on a page of the callback
	 * programs, and runs the body if they approve. A call that asks somebody else ends
	 * with the link for them; the next one finds the decision.
	 *
	 * @template R
	 * @template {boolean | undefined} [T=undefined]
	 * @param {import('./types.js').ApprovalOptions & Fields & { typed?: T }} options the same in all calls for the same thing
	 * @param {(approval: import('./types.js').Approval) => R | Promise<R>} body
	 * @returns {Promise<R | import('./types.js').Instead<T, More, R>>} the result of the tool
	 * @throws the errors of `withElicitation`
	 */
	async function askApproval(options, body) {
		const { call, server, ...rest } = options;
		return run(describe(options),
			(described) => runWithApproval(/** @type {import('./types.js').ApprovalOptions} */ (rest), described, body));
	}

	/**
	 * @param {import('./types.js').Call} call
	 * @param {(call: import('./types.js').Call) => Promise<import('./with-elicitation.js').Result<any>>} work
	 */
	async function run(call, work) {
		try {
			const result = await work(call);
			if (!result.accepted && NO_TOOLS.includes(String(call.method)) && 'content' in result.toolResult) throw toError(result.toolResult);
			const answer = result.accepted ? result.result : result.toolResult;
			return call.beside && requiresInput(answer) ? { ...answer, ...call.beside } : answer;
		} finally {
			call.release?.();
		}
	}
	return { withElicitation, withAccount, useAccount, requirePaid, collectInput, askApproval };
}
