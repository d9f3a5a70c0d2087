// Makes elicitations, or finds those that a call can go on with.

import { checkSignal, checkTarget, hasPrice } from './arguments.js';
import { RESUME_ATTEMPTS } from './contract-limits.js';
import { FORM_INFO, VERIFIER_INFO } from './contract-seals.js';
import { checkCreateOptions, hasForm } from './create-options.js';
import { isOver } from './entitlements.js';
import { ElicitationExistsError, ElicitationSubscribedError } from './errors.js';
import { addPkce } from './pkce.js';
import { priceOf } from './price.js';
import { seal } from './seal.js';
import { bindingOf } from './token.js';
import { checkTargetUrl } from './url.js';

export class Creator {
	#keys;
	#database;
	#urls;
	#events;
	#name;
	#descriptions;
	#tenant;

	/**
	 * @param {object} parts
	 * @param {import('./keys.js').KeyRing} parts.keys
	 * @param {import('./database.js').Database} parts.database
	 * @param {import('./callback-urls.js').UrlBuilder} parts.urls
	 * @param {import('./events.js').Events} parts.events
	 * @param {string} parts.name of the MCP server, for people to read
	 * @param {ReadonlyMap<string, string>} parts.descriptions of providers that have not the name of theirs
	 * @param {string} parts.tenant
	 */
	constructor({ keys, database, urls, events, name, descriptions, tenant }) {
		this.#keys = keys;
		this.#database = database;
		this.#urls = urls;
		this.#events = events;
		this.#name = name;
		this.#descriptions = descriptions;
		this.#tenant = tenant;
	}

	/**
	 * @param {import('./types.js').AnyCreateOptions} options
	 * @returns {Promise<import('./types.js').AnyElicitation>}
	 * @throws {import('./errors.js').ElicitationExistsError}
	 * @throws {import('./errors.js').ElicitationLimitError}
	 * @throws {import('./errors.js').ElicitationSubscribedError}
	 */
	async create(options) {
		const checked = checkCreateOptions(options);
		const { signal } = options;
		checkSignal(signal);
		const { id, provider, kind, owner, ttl, expected, item, subscription, exclusive, resumeKey, canRecheck, request, earlierRequest, clientId, approvers, verifyMs, traceparent } = checked;
		const binding = bindingOf(owner.subject, owner.session, this.#tenant);
		const amount = hasPrice(expected) ? await priceOf(this.#descriptions.get(provider) ?? provider, expected) : undefined;
		const price = subscription ? Object.assign({ subscription }, /** @type {import('./money-types.js').Expected} */ (expected)) : expected;
		const byOthers = approvers !== null;
		// Before a checkout is made for nothing. The database refuses it as well, if another call has subscribed meanwhile.
		if (subscription && item !== null) {
			const [best] = await this.#database.entitlements({ subject: owner.subject, item });
			if (best && !isOver(best)) throw new ElicitationSubscribedError(item);
		}

		for (let attempt = 0; attempt < RESUME_ATTEMPTS; attempt += 1) {
			const resumable = resumeKey === null && item === null ? undefined : await this.#database.resume({
				binding, provider, kind, resumeKey, canRecheck, request, item, expected: price, earlierRequest,
			}, signal);
			// What does not match was told, or nobody heard it: from now on the money is held.
			if (resumable?.isHeld) await this.#database.claimRefusal({ id: resumable.id, binding });
			if (resumable) return this.#urls.toElicitation({ ...resumable, binding, byOthers, resumed: true });

			const { kid: linkKid } = this.#keys.minting;
			const { callbackUrls, targetUrl, checkout, verifier } = hasForm(kind)
				? { callbackUrls: undefined, targetUrl: null, checkout: null, verifier: null }
				: await this.#buildTarget(/** @type {import('./types.js').CreateOptions} */ (options), checked, binding, amount);
			const expires = await this.#database.create({
				id, provider, kind, subject: owner.subject, session: owner.session, binding, requester: this.#name, targetUrl, expected: price, item,
				verifier, ttlMs: ttl, exclusive, resumeKey, canRecheck, request, checkout, clientId, linkKid, approvers, verifyMs, traceparent, tenant: this.#tenant,
				form: checked.form && seal(this.#keys, { id, binding, use: FORM_INFO }, JSON.stringify(checked.form)),
			}, signal);
			// Another call of the same owner was faster: resume its elicitation.
			if (expires === undefined) continue;
			this.#events.created({ id, provider, kind, owner, expires });
			return this.#urls.toElicitation({ id, provider, kind, binding, expires, linkKid, callbackUrls, byOthers, resumed: false });
		}
		throw new ElicitationExistsError(id);
	}

	/**
	 * @param {import('./types.js').CreateOptions} options
	 * @param {import('./create-options.js').Checked} checked
	 * @param {Buffer} binding
	 * @param {number | string | undefined} amount
	 */
	async #buildTarget({ targetUrl: given, pkce }, { id, provider, kind, expected, ttl }, binding, amount) {
		const callbackUrls = this.#urls.build({ id, provider, kind, binding, ttl });
		const { url, checkout } = checkTarget(typeof given === 'function'
			? await given(amount === undefined ? callbackUrls : { ...callbackUrls, amount }) : given, kind);
		if (typeof expected === 'object' && expected?.match === 'checkout' && checkout === null) {
			throw new TypeError("expected.match 'checkout' requires that targetUrl names the checkout: { url, checkout }");
		}
		const targetUrl = checkTargetUrl(url, kind);
		if (!pkce) return { targetUrl: targetUrl.href, callbackUrls, checkout, verifier: null };
		const added = addPkce(targetUrl);
		const verifier = seal(this.#keys, { id, binding, use: VERIFIER_INFO }, JSON.stringify(added.verifier));
		return { targetUrl: added.url.href, callbackUrls, checkout, verifier };
	}
}
