// The keys file. Each line holds one key, `<kid 0..255> <base64 or base64url
// of 32 bytes or more>`. Empty lines and lines that begin with `#` are ignored.
// The first key mints; all keys open.

import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

import { checkText } from './arguments.js';
import { KEYS_CHECK_MS, KEYS_FILE_MAX, PATH_MAX, SECRET_MAX, SECRET_MIN } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { KeysFileError } from './errors.js';
import { hmacSha256 } from './sha256.js';

const FIRST_BLOCK = Buffer.of(1);
const NO_SALT = Buffer.alloc(0);

export class Key {
	#secret;
	/** @type {Map<string, Buffer>} by purpose */
	#shared = new Map();

	/**
	 * @param {number} kid
	 * @param {Uint8Array} secret
	 */
	constructor(kid, secret) {
		this.kid = kid;
		this.#secret = secret;
	}

	/**
	 * Derives 32 bytes from the secret with HKDF-SHA256 (RFC 5869). Computed
	 * with HMAC, which takes half the time of `hkdfSync`.
	 *
	 * @param {Uint8Array} salt at most 64 bytes
	 * @param {Uint8Array | string} info
	 */
	derive(salt, info) {
		return hmacSha256(hmacSha256(salt, this.#secret), info, FIRST_BLOCK);
	}

	/**
	 * The key of all values of one purpose, derived without a salt.
	 *
	 * @param {string} purpose
	 */
	shared(purpose) {
		const key = this.#shared.get(purpose) ?? this.derive(NO_SALT, purpose);
		this.#shared.set(purpose, key);
		return key;
	}
}

/**
 * The keys of a file at one time.
 *
 * @typedef {{ readonly minting: Key, find(kid: number): Key | undefined }} KeyRing
 */

/**
 * @param {Key[]} keys at least one
 * @returns {KeyRing}
 */
export function keyRing(keys) {
	const byKid = new Map(keys.map((key) => [key.kid, key]));
	const [minting] = keys;
	if (minting === undefined) throw new TypeError('a key ring must have at least one key');
	return { minting, find: (kid) => byKid.get(kid) };
}

/**
 * Accepts base64 and base64url, with or without padding. Rejects other
 * characters, and a last character whose unused bits are not zero.
 *
 * @param {string} text
 * @returns {Buffer | undefined}
 */
function decodeBase64(text) {
	const unpadded = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
	const url = unpadded.replaceAll('+', '-').replaceAll('/', '_');
	const bytes = Buffer.from(url, 'base64url');
	return bytes.toString('base64url') === url ? bytes : undefined;
}

/**
 * @param {string} line
 * @param {string} at file and line, for the error message
 */
function parseLine(line, at) {
	const [kid, secret, ...more] = line.split(/[ \t]+/);
	if (kid === undefined || secret === undefined || more.length > 0) {
		throw new KeysFileError(`${at}: ${TEXTS.keyLine}`);
	}
	if (!/^[0-9]+$/.test(kid) || Number(kid) > 255) {
		throw new KeysFileError(`${at}: ${TEXTS.keyKid}`);
	}
	const bytes = decodeBase64(secret);
	if (bytes === undefined || bytes.length > SECRET_MAX) {
		throw new KeysFileError(`${at}: ${TEXTS.keyTooLong}`);
	}
	if (bytes.length < SECRET_MIN) {
		throw new KeysFileError(`${at}: ${TEXTS.keyTooShort}`);
	}
	return new Key(Number(kid), bytes);
}

/**
 * @param {string} text
 * @param {string} file its name, for error messages
 */
export function parseKeys(text, file) {
	/** @type {Map<number, Key>} */
	const keys = new Map();
	for (const [index, raw] of text.split('\n').entries()) {
		const line = raw.replace(/^[ \t\r]+|[ \t\r]+$/g, '');
		if (line === '' || line.startsWith('#')) continue;
		const key = parseLine(line, `${file}:${index + 1}`);
		if (keys.has(key.kid)) {
			throw new KeysFileError(`${file}:${index + 1}: ${TEXTS.kidTwice(key.kid)}`);
		}
		keys.set(key.kid, key);
	}
	if (keys.size === 0) throw new KeysFileError(`${file}: ${TEXTS.noKeyInFile}`);
	return keyRing([...keys.values()]);
}

/**
 * @param {unknown} keysFile
 * @param {unknown} keys the content of a file
 * @returns {KeyRing}
 * @throws {KeysFileError}
 */
export function openKeys(keysFile, keys) {
	if (keys === undefined) return new KeysFile(checkText('keysFile', keysFile, 1, PATH_MAX));
	if (keysFile !== undefined) throw new TypeError(TEXTS.keysOrFile);
	return parseKeys(checkText('keys', keys, 1, KEYS_FILE_MAX), 'keys');
}

/**
 * Whether two rings have a secret in common, under whatever kid.
 *
 * @param {KeyRing} one
 * @param {KeyRing} other
 */
export function haveCommonKey(one, other) {
	const [marks, others] = [one, other].map((ring) => Array.from({ length: 256 },
		(_, kid) => ring.find(kid)?.shared('urlmode common key').toString('base64')).filter((mark) => mark !== undefined));
	return marks?.some((mark) => others?.includes(mark)) === true;
}

/** @param {import('node:fs').BigIntStats} stat */
function fingerprint(stat) {
	return [stat.dev, stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(' ');
}

/**
 * @param {string} file
 * @returns {string} changes when the file does; `none` if it cannot be examined
 */
function fingerprintFile(file) {
	try {
		return fingerprint(statSync(file, { bigint: true }));
	} catch {
		return 'none';
	}
}

/**
 * @param {string} file
 * @param {unknown} error
 */
function toKeysFileError(file, error) {
	if (error instanceof KeysFileError) return error;
	return new KeysFileError(`${file}: ${error instanceof Error ? error.message : 'the file cannot be read'}`);
}

/**
 * Reads the file, and reads it again when it changes. A key that was added as
 * the first line mints at once; a key that was removed opens nothing. If the
 * changed file is not valid, the keys stay as they were, and one warning is
 * emitted.
 *
 * @implements {KeyRing}
 */
export class KeysFile {
	#file;
	/** @type {KeyRing} */
	#keys;
	#fingerprint = '';
	#checkedAt = 0;

	/**
	 * @param {string} file
	 * @throws {KeysFileError} with the file's name and the reason
	 */
	constructor(file) {
		this.#file = file;
		this.#checkedAt = performance.now();
		try {
			this.#keys = this.#read();
		} catch (error) {
			throw toKeysFileError(file, error);
		}
	}

	get minting() {
		this.#refresh(KEYS_CHECK_MS);
		return this.#keys.minting;
	}

	/**
	 * Examines the file at once if the kid is unknown, because its key may have
	 * been added just now.
	 *
	 * @param {number} kid
	 */
	find(kid) {
		this.#refresh(KEYS_CHECK_MS);
		const key = this.#keys.find(kid);
		if (key !== undefined) return key;
		this.#refresh(0);
		return this.#keys.find(kid);
	}

	/** @returns {KeyRing} */
	#read() {
		const fd = openSync(this.#file, 'r');
		try {
			// Before the content is read, so that a later change is noticed next time.
			const stat = fstatSync(fd, { bigint: true });
			this.#fingerprint = fingerprint(stat);
			if (!stat.isFile()) throw new KeysFileError(`${this.#file}: ${TEXTS.notAFile}`);
			if ((stat.mode & 0o007n) !== 0n) {
				throw new KeysFileError(`${this.#file}: ${TEXTS.fileNotPrivate}`);
			}
			return parseKeys(readFileSync(fd, 'latin1'), this.#file);
		} finally {
			closeSync(fd);
		}
	}

	/** @param {number} maxAge milliseconds since the file was examined last */
	#refresh(maxAge) {
		const now = performance.now();
		if (now - this.#checkedAt < maxAge) return;
		this.#checkedAt = now;
		const current = fingerprintFile(this.#file);
		if (current === this.#fingerprint) return;
		this.#fingerprint = current;
		try {
			this.#keys = this.#read();
		} catch (error) {
			process.emitWarning(TEXTS.keysStay(toKeysFileError(this.#file, error).message),
				{ type: 'UrlModeWarning', code: 'URLMODE_KEYS_FILE' });
		}
	}
}
