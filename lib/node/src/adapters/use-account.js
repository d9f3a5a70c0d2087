// Uses an account of the vault: with its token, or by the elicitation that
// connects it, connects it again, or asks for what is missing.

import { setTimeout as sleep } from 'node:timers/promises';

import { checkScopes } from '../accounts/provider.js';
import { orAborted } from '../core/abort.js';
import { ACCOUNT_LOOK_MS, EXCHANGE_MS } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import { AccountNotConnectedError, AccountReconnectError, TokenRefusedError } from '../core/errors.js';
import { internalsOf } from '../core/internals.js';
import { jittered } from '../core/jitter.js';
import { bindingOf } from '../core/token.js';
import { partsOf } from '../vault/vault.js';
import { runWithAccount } from './connect-account.js';
import { failureResult } from './messages.js';


/**
 * @typedef {import('./types.js').UseAccountOptions} UseAccountOptions
 * @typedef {import('../vault/types.js').AccessToken} AccessToken
 */

/** Another call has connected the account since this one looked for it, so that the user need not be asked. */
class ConnectedMeanwhile extends Error {
	/** @param {AccessToken} token */
	constructor(token) {
		super(TEXTS.connectedMeanwhile);
		this.token = token;
	}
}

/**
 * @template R
 * @param {UseAccountOptions} given
 * @param {import('./types.js').Call} call
 * @param {(token: AccessToken) => R | Promise<R>} body
 * @returns {Promise<import('./with-elicitation.js').Result<R>>}
 */
export async function runUseAccount(given, call, body) {
	const { vault, account, validFor, variables, parameters, ...rest } = given;
	const { urlmode, options: preset, keep, isInUse } = partsOf(vault, rest.provider);
	const scopes = rest.scopes ?? preset.scopes ?? [];
	const requiredScopes = rest.requiredScopes ?? preset.requiredScopes ?? [];
	checkScopes('scopes', scopes);
	checkScopes('requiredScopes', requiredScopes);
	/** @type {import('../vault/types.js').TokenOptions} */
	const wanted = { subject: rest.subject, provider: rest.provider, account, validFor, signal: call.signal };
	const { token, known } = await find(vault, wanted);
	if (token && !lacks(token, scopes, requiredScopes)) {
		const end = await run(vault, wanted, token, body);
		if ('result' in end) return { accepted: true, result: end.result };
		wanted.refused = end.refused;
	}
	/**
	 * @param {AccessToken} connected since the user was asked
	 * @returns {Promise<import('./with-elicitation.js').Result<R>>}
	 */
	const use = async (connected) => {
		const end = await run(vault, wanted, connected, body);
		if ('result' in end) return { accepted: true, result: end.result };
		throw new AccountReconnectError(rest.provider, connected.account, 'refused');
	};

	const options = {
		...preset, ...rest, urlmode, requiredScopes, scopes: [...new Set([...known, ...scopes, ...requiredScopes])],
		variables: { ...preset.variables, ...variables }, parameters: { ...preset.parameters, ...parameters },
		about: account === undefined ? {} : { account },
	};
	const beforeAsking = async () => {
		const { token: now } = await find(vault, wanted);
		if (now && !lacks(now, scopes, requiredScopes)) throw new ConnectedMeanwhile(now);
	};
	/** @type {string | null | undefined} */
	let why;
	const isGivenBack = async (/** @type {string} */ id) => {
		why = await waitForExchange(urlmode, id, rest, call.signal);
		return why === null;
	};
	const end = await runWithAccount(/** @type {import('./types.js').AccountOptions} */ (options), call, (connected) => keep(rest, connected), {
		isFinished: true, isInUse: () => isInUse(rest), beforeAsking, isGivenBack,
	}).catch((error) => {
		if (error instanceof ConnectedMeanwhile) return error;
		throw error;
	});
	if (end instanceof ConnectedMeanwhile) return use(end.token);
	if (end.accepted) {
		if (account !== undefined && end.result !== account) return refused('other_account');
		return use(await vault.accessToken({ ...wanted, account: end.result }));
	}
	if (end.reason !== 'claimed' || end.elicitationId === undefined) return end;
	if (why === null || why === undefined) return end;
	if (why !== '') return { ...end, reason: why, toolResult: failureResult('cancel', why) };
	// What the other call has connected may be another account than this call needs, or less than it requires.
	const { token: shared } = await find(vault, wanted);
	if (shared && !lacks(shared, scopes, requiredScopes)) return use(shared);
	const [last] = await vault.listAccounts(wanted);
	if (account !== undefined && (!shared || last?.account !== account)) return refused('other_account');
	if (!shared) return end; // It was disconnected since.
	return refused('scope_missing', requiredScopes.filter((scope) => !shared.scopes.includes(scope)).join(' '));
}

/**
 * Runs the body; once more, with a refreshed token, if it says that the provider's API has refused the first one.
 *
 * @template R
 * @param {import('../vault/vault.js').Vault} vault
 * @param {import('../vault/types.js').TokenOptions} wanted
 * @param {AccessToken} token
 * @param {(token: AccessToken) => R | Promise<R>} body
 * @returns {Promise<{ result: R } | { refused: string }>} refused: the last token, which cannot be replaced without the user
 */
async function run(vault, wanted, token, body) {
	try {
		return { result: await body(token) };
	} catch (error) {
		if (!(error instanceof TokenRefusedError)) throw error;
	}
	const refused = token.accessToken;
	let fresh;
	try {
		fresh = await vault.accessToken({ ...wanted, account: token.account, refused });
	} catch (error) {
		if (error instanceof AccountReconnectError) return { refused };
		throw error;
	}
	try {
		return { result: await body(fresh) };
	} catch (error) {
		if (!(error instanceof TokenRefusedError)) throw error;
		return { refused: fresh.accessToken };
	}
}

/**
 * @param {string} reason
 * @param {string} [detail]
 * @returns {import('./with-elicitation.js').Result<never>}
 */
function refused(reason, detail) {
	return { accepted: false, action: 'cancel', reason, toolResult: failureResult('cancel', reason, detail) };
}

/**
 * @param {import('../vault/vault.js').Vault} vault
 * @param {import('../vault/types.js').TokenOptions} wanted
 * @returns {Promise<{ token?: AccessToken, known: string[] }>} known: the scopes that the account was asked for before
 */
async function find(vault, wanted) {
	try {
		const token = await vault.accessToken(wanted);
		return { token, known: knownScopes(token) };
	} catch (error) {
		if (error instanceof AccountNotConnectedError) return { known: [] };
		if (!(error instanceof AccountReconnectError)) throw error;
		const accounts = await vault.listAccounts(wanted);
		return { known: accounts.filter((one) => one.account === error.account).flatMap(knownScopes) };
	}
}

/** @param {{ scopes: string[], requestedScopes: string[] }} account */
function knownScopes({ scopes, requestedScopes }) {
	return requestedScopes.length > 0 ? requestedScopes : scopes;
}

/**
 * A scope that was asked for is not asked for again, unless it is required:
 * some providers do not say what they have granted, or in other words.
 *
 * @param {AccessToken} token
 * @param {string[]} scopes
 * @param {string[]} required
 */
function lacks({ scopes: granted, requestedScopes: requested }, scopes, required) {
	return scopes.some((scope) => !granted.includes(scope) && !requested.includes(scope))
		|| required.some((scope) => !granted.includes(scope));
}

/**
 * Another call has claimed the outcome, and exchanges its code.
 *
 * @param {import('../core/urlmode.js').UrlMode} urlmode
 * @param {string} id
 * @param {{ subject: string, session?: string | undefined }} owner
 * @param {AbortSignal} [signal] ends the wait
 * @returns {Promise<string | null | undefined>} empty: it is connected; otherwise why it is not; null: nobody exchanges it any more;
 *     undefined: that call does not say it in time
 */
async function waitForExchange(urlmode, id, { subject, session = '' }, signal) {
	const { claims, tenant } = internalsOf(urlmode);
	const until = performance.now() + EXCHANGE_MS;
	for (;;) {
		const why = await claims.readExchange({ id, binding: bindingOf(subject, session, tenant) });
		if (why !== undefined || performance.now() > until) return why;
		await orAborted(sleep(jittered(ACCOUNT_LOOK_MS)), signal);
	}
}
