// Checks what `create` is called with.

import { randomUUID } from 'node:crypto';

import { DESCRIBED_CHECKOUTS, DESCRIBED_KINDS } from './contract-kinds.js';
import { CLIENT_ID_MAX, ITEM_MAX, RESUME_KEY_MAX, TTL_MS, VERIFY_MAX_MS, VERIFY_MIN_MS } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { FORM_KINDS, KINDS } from './contract-words.js';
import { checkApprover, checkForm } from './form.js';
import {
	checkAbout, checkChoice, checkExpected, checkFlag, checkId, checkMilliseconds, checkOwner, checkProvider, checkText, checkTtl,
} from './arguments.js';
import { digestOfRequest } from './digest.js';
import { checkTraceparent } from './traceparent.js';

/**
 * Whether the callback programs serve the page themselves.
 *
 * @param {string} kind
 * @returns {kind is import('./contract-words.js').FormKind}
 */
export function hasForm(kind) {
	return FORM_KINDS.some((each) => each === kind);
}

/**
 * An entry for payments or signatures needs a description, which is that of its name unless it names another one.
 *
 * @param {string} provider
 * @param {string} kind
 */
function checkDescribed(provider, kind) {
	if ((kind !== 'payment' && kind !== 'signature') || DESCRIBED_KINDS.get(provider)?.includes(kind) !== false) return;
	throw new TypeError(TEXTS.notOfKind(provider, kind));
}

/**
 * @param {string} provider
 * @param {import('./money-types.js').Expected | 'any' | null} expected
 */
function checkMatch(provider, expected) {
	if (expected === null || expected === 'any' || expected.match !== 'checkout') return;
	if (!DESCRIBED_KINDS.has(provider) || DESCRIBED_CHECKOUTS.has(provider)) return;
	throw new TypeError(TEXTS.noCheckoutInEvents(provider));
}

/**
 * @param {unknown} item
 * @param {string} kind
 */
function checkItem(item, kind) {
	if (kind !== 'payment' && kind !== 'signature') {
		if (item === undefined) return null;
		throw new TypeError(TEXTS.itemNotAllowed);
	}
	if (item === undefined) throw new TypeError(TEXTS.itemRequired);
	return checkText('item', item, 1, ITEM_MAX);
}

/**
 * @param {unknown} value
 * @param {string} kind
 * @param {unknown} expected
 */
function checkSubscription(value, kind, expected) {
	const subscription = checkFlag('subscription', value, false);
	if (!subscription) return false;
	if (kind !== 'payment') throw new TypeError(TEXTS.subscriptionNotAllowed);
	if (expected === 'any') throw new TypeError(TEXTS.subscriptionWithoutPrice);
	return true;
}

/**
 * @typedef {string[] | { approvers: string[], four_eyes: true }} Approvers as the row has them
 *
 * @param {string[] | null} approvers
 * @param {unknown} fourEyes
 * @returns {Approvers | null}
 */
function checkFourEyes(approvers, fourEyes) {
	if (!checkFlag('fourEyes', fourEyes, false)) return approvers;
	if (approvers === null) throw new TypeError('fourEyes requires an approver of kind approval: others, or subjects');
	return { approvers, four_eyes: true };
}

/**
 * The part of the options by which a call is compared with an earlier one.
 *
 * @param {import('./types.js').AnyCreateOptions} options
 * @returns {Pick<Checked, 'provider' | 'kind' | 'expected' | 'item' | 'subscription' | 'form' | 'approvers' | 'clientId' | 'request' | 'earlierRequest'>}
 */
export function checkRequest(options) {
	const { provider: name, kind: given, expected: price, item: thing, subscription: subscribes, about: more, clientId: client, sameClient: compared } = options;
	const { form, approver, fourEyes, stepUp, submitLabel, verifyTimeout } = /** @type {Record<string, unknown>} */ (options);
	const provider = checkProvider(name);
	const kind = checkChoice('kind', given, KINDS);
	checkDescribed(provider, kind);
	const expected = checkExpected(price, kind);
	checkMatch(provider, expected);
	const item = checkItem(thing, kind);
	const subscription = checkSubscription(subscribes, kind, expected);
	if (!hasForm(kind) && form !== undefined) throw new TypeError('form is only allowed for kinds input and approval');
	if (kind !== 'approval' && approver !== undefined) throw new TypeError('approver is only allowed for kind approval');
	if (kind !== 'input' && verifyTimeout !== undefined) throw new TypeError('verifyTimeout is only allowed for kind input');
	if (kind !== 'input' && submitLabel !== undefined) throw new TypeError('submitLabel is only allowed for kind input');
	if (checkFlag('stepUp', stepUp, false) && kind !== 'approval') throw new TypeError('stepUp is only allowed for kind approval');
	const checkedForm = hasForm(kind) ? checkForm(kind, form, {
		...submitLabel !== undefined && { submit_label: submitLabel }, ...stepUp === true && { step_up: true },
	}) : null;
	const approvers = checkFourEyes(checkApprover(approver), fourEyes);
	const clientId = client === undefined ? null : checkText('clientId', client, 1, CLIENT_ID_MAX);
	const sameClient = checkFlag('sameClient', compared, false);
	if (sameClient && clientId === null) throw new TypeError('sameClient requires clientId');
	const others = checkAbout(more);
	const about = others === undefined && checkedForm === null && !subscription ? undefined : {
		...others, ...subscription && { subscription }, ...checkedForm && { form: checkedForm }, ...approvers && { approver }, ...fourEyes === true && { four_eyes: true }, ...verifyTimeout !== undefined && { verify: true },
	};
	const mcpClient = sameClient ? clientId : null;
	return {
		provider, kind, expected, item, subscription, form: checkedForm, approvers, clientId,
		request: digestOfRequest({ provider, kind, expected, item, about, mcpClient }),
		earlierRequest: item === null ? null : digestOfRequest({ provider, kind, expected, item: null, about, mcpClient }),
	};
}

/**
 * @typedef {object} Checked
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {{ subject: string, session: string }} owner
 * @property {number} ttl milliseconds
 * @property {import('./money-types.js').Expected | 'any' | null} expected
 * @property {string | null} item
 * @property {boolean} subscription whether the payment must be the first one of a subscription
 * @property {boolean} exclusive
 * @property {string | null} resumeKey
 * @property {boolean} canRecheck
 * @property {string | null} clientId
 * @property {Record<string, unknown> | null} form
 * @property {Approvers | null} approvers null: the starter, or another kind; empty: anyone else
 * @property {number | null} verifyMs the time limit of `verify`, if there is one
 * @property {string | null} traceparent
 * @property {Buffer} request digest of what is asked for
 * @property {Buffer | null} earlierRequest the digest that a package without items has made of it
 *
 * @param {import('./types.js').AnyCreateOptions} options
 * @returns {Checked}
 */
export function checkCreateOptions(options) {
	const { pkce, verifyTimeout, targetUrl } = /** @type {Record<string, unknown>} */ (options);
	const { provider, kind, expected, item, subscription, form, approvers, clientId, request, earlierRequest } = checkRequest(options);
	if (pkce && kind !== 'oauth') throw new TypeError(TEXTS.pkceNotAllowed);
	if (hasForm(kind) && targetUrl !== undefined) throw new TypeError('targetUrl is not allowed for kinds input and approval');
	return { // Without a spread of objects, which takes V8 longer than all checks.
		provider, kind, expected, item, subscription, form, approvers, clientId, request, earlierRequest,
		id: checkId(options.id ?? randomUUID()),
		owner: checkOwner(options),
		ttl: checkTtl(options.ttl ?? TTL_MS),
		exclusive: checkFlag('exclusive', options.exclusive, false),
		resumeKey: options.resumeKey === undefined ? null : checkText('resumeKey', options.resumeKey, 1, RESUME_KEY_MAX),
		canRecheck: checkFlag('canRecheck', options.canRecheck, true),
		verifyMs: verifyTimeout === undefined ? null : checkMilliseconds('verifyTimeout', verifyTimeout, VERIFY_MIN_MS, VERIFY_MAX_MS),
		traceparent: options.traceparent === undefined ? null : checkTraceparent(options.traceparent),
	};
}
