// Sealed JSON. Only the SDK opens it, but for forms and problems, which the
// callback programs show. In a row: the result, written by
// the callback programs or by `complete`.
//
//   bytes  01 || kid || nonce(12) || ciphertext || tag(16)
//   key    HKDF-SHA256(secret of kid, salt = id, info = USE || binding)
//   AAD    01 || kid || id
//
// In a row as well: the verifier, and the form, written by `create`; the problem that
// `verify` has found; and what a call has returned, written by `fulfil` of its claim.
// In a notification: the outcome, written by the callback programs. Deriving a key
// takes longer than opening, so these have one for all rows.
//
//   key    HKDF-SHA256(secret of kid, no salt, info = USE)
//   AAD    01 || kid || id || binding
//
// An event of a provider names no owner, so its result and outcome are sealed for
// the id alone: they begin with 02, and neither key nor AAD has the binding.

import { EVENT_OUTCOME_INFO, EVENT_RESULT_INFO, OUTCOME_INFO, RESULT_INFO } from './contract-seals.js';
import { TEXTS } from './contract-texts.js';
import { decrypt, encrypt } from './envelope.js';
import { ElicitationSealError } from './errors.js';
import { idBytes } from './token.js';


const ID_BYTES = 16;

/**
 * @typedef {object} SealContext what a sealed value is bound to
 * @property {string} id the elicitation's UUID
 * @property {Uint8Array} binding 16 bytes
 * @property {import('./contract-seals.js').Use} use
 */

/**
 * @param {SealContext} context
 * @param {import('./keys.js').Key} key
 */
function keyFor({ id, binding, use }, key) {
	if (use === RESULT_INFO) return key.derive(idBytes(id), Buffer.concat([Buffer.from(use), binding]));
	return use === EVENT_RESULT_INFO ? key.derive(idBytes(id), use) : key.shared(use);
}

/** @param {SealContext} context */
function contextBytes({ id, binding, use }) {
	return use === RESULT_INFO || use === EVENT_RESULT_INFO || use === EVENT_OUTCOME_INFO ? idBytes(id) : rowBytes({ id, binding });
}

/**
 * The context of an outcome, made before one is announced.
 *
 * @param {{ id: string, binding: Uint8Array }} rowKey
 * @returns {Buffer} id || binding, 32 bytes
 */
export function rowBytes({ id, binding }) {
	return Buffer.concat([idBytes(id), binding]);
}

/** @param {SealContext['use']} use */
function versionOf(use) {
	return use === EVENT_RESULT_INFO || use === EVENT_OUTCOME_INFO ? 2 : 1;
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {SealContext} context
 * @param {string} json
 * @param {Uint8Array} [nonce] random by default
 * @returns {Buffer}
 */
export function seal(keys, context, json, nonce) {
	const key = keys.minting;
	return encrypt({
		version: versionOf(context.use),
		kid: key.kid,
		key: keyFor(context, key),
		nonce,
		context: contextBytes(context),
		plaintext: json,
	});
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {SealContext} owned for RESULT_INFO also a result that is sealed for the id alone is opened
 * @param {Uint8Array} sealed
 * @returns {Record<string, unknown>} the JSON object
 * @throws {ElicitationSealError}
 */
export function unseal(keys, owned, sealed) {
	const context = { ...owned, use: sealed[0] === 2 && owned.use === RESULT_INFO ? EVENT_RESULT_INFO : owned.use };
	const opened = decrypt(sealed, (kid) => {
		const key = keys.find(kid);
		return key && keyFor(context, key);
	}, contextBytes(context), versionOf(context.use));
	if (opened === 'unknown key') {
		throw new ElicitationSealError(context.id, TEXTS.noSuchKey(Number(sealed[1])));
	}
	if (typeof opened === 'string') {
		throw new ElicitationSealError(context.id, `it is ${opened}`);
	}
	const value = parseObject(opened);
	if (!value) throw new ElicitationSealError(context.id, TEXTS.notAJsonObject);
	return value;
}

/**
 * Opens an outcome that was announced. Nobody has checked where it comes from.
 *
 * @param {import('./keys.js').KeyRing} keys
 * @param {Buffer} row rowBytes of the row
 * @param {string} sealed in base64
 * @returns {import('./waits.js').NotifiedOutcome | undefined} undefined if it is not genuine, or of another elicitation
 */
export function openOutcome(keys, row, sealed) {
	const bytes = Buffer.from(sealed, 'base64');
	const use = bytes[0] === 2 ? EVENT_OUTCOME_INFO : OUTCOME_INFO;
	const context = use === OUTCOME_INFO ? row : row.subarray(0, ID_BYTES);
	const opened = decrypt(bytes, (kid) => keys.find(kid)?.shared(use), context, versionOf(use));
	const value = typeof opened === 'string' ? undefined : parseObject(opened);
	if (!value) return undefined;
	const { action, reason, reference = null, result } = value;
	return /** @type {import('./waits.js').NotifiedOutcome} */ ({ action, reason, reference, result });
}

/**
 * Hides the error of JSON.parse, because its message quotes the text.
 *
 * @param {Buffer} json
 * @returns {Record<string, unknown> | undefined} undefined if it is not a JSON object
 */
function parseObject(json) {
	try {
		const value = JSON.parse(json.toString());
		return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
	} catch {
		return undefined;
	}
}
