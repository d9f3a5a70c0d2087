// Runs the body of a tool for users with a subscription. Others are asked for one,
// and those whose subscription has a problem are sent to the page where they settle it.
//
// A subscription is not claimed by a call: it entitles each call until it ends. Its
// first payment is claimed by its entitlement, so that the claim of a call that has
// waited for it finds that it is taken, and the call looks at the entitlement again.

import { TEXTS } from '../core/contract-texts.js';
import { isOver } from '../core/entitlements.js';
import { ElicitationSubscribedError } from '../core/errors.js';
import { failureResult, manageResult } from './messages.js';
import { toTyped } from './typed.js';
import { runWithElicitation } from './with-elicitation.js';

/**
 * @typedef {import('./types.js').RequirePaidOptions} RequirePaidOptions
 * @typedef {import('../core/money-types.js').Entitlement} Entitlement
 */

/**
 * @template R
 * @param {RequirePaidOptions} given
 * @param {import('./types.js').Call} call
 * @param {(entitlement: import('./types.js').Entitlement) => R | Promise<R>} body
 * @returns {Promise<import('./with-elicitation.js').Result<R>>}
 */
export async function runRequirePaid(given, call, body) {
	const { manageUrl, ...rest } = given;
	if (manageUrl !== undefined && typeof manageUrl !== 'function') throw new TypeError(`manageUrl ${TEXTS.mustBeFunction}`);
	const known = await find(given);
	if (known) return settle(known);

	const options = { ...rest, kind: /** @type {const} */ ('payment'), subscription: true };
	let end;
	try {
		end = await runWithElicitation(/** @type {import('./types.js').ElicitOptions} */ (options), call, () => {
			throw new Error(TEXTS.claimedOtherwise);
		});
	} catch (error) {
		// Another call has subscribed since this one looked.
		const made = error instanceof ElicitationSubscribedError ? await find(given) : undefined;
		if (!made) throw error;
		return settle(made);
	}
	const now = end.accepted || end.reason === 'claimed' ? await find(given) : undefined;
	return now ? settle(now) : /** @type {import('./with-elicitation.js').Result<R>} */ (end);

	/**
	 * @param {Entitlement} entitlement
	 * @returns {Promise<import('./with-elicitation.js').Result<R>>}
	 */
	async function settle(entitlement) {
		const page = async () => {
			const url = await manageUrl?.(entitlement);
			return url === undefined ? undefined : String(url);
		};
		if (entitlement.entitled) return { accepted: true, result: await body({ ...entitlement, manageUrl: page }) };
		const reason = entitlement.paused ? 'paused' : 'past_due';
		const url = await page();
		const toolResult = url === undefined ? failureResult('cancel', reason) : manageResult(given, reason, url);
		return { accepted: false, action: 'cancel', reason, toolResult: given.typed ?? call.typed ? toTyped(toolResult) : toolResult };
	}
}

/**
 * The subscription of the user, as long as it is not over.
 *
 * @param {RequirePaidOptions} options
 */
async function find({ urlmode, subject, item }) {
	if (typeof item !== 'string') throw new TypeError('item must be a string: what the subscription is for');
	const [best] = await urlmode.entitlements({ subject, item });
	return best && !isOver(best) ? best : undefined;
}
