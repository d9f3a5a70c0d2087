// The keys file: one key a line, `<kid 0..255> <base64 or base64url of 32
// bytes or more>`; empty lines and lines that begin with `#` do not count.
// The first key mints, all of them open.

import { createHmac } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';

import { KeysFileError } from './errors.js';

const SECRET_MIN = 32;
const SECRET_MAX = 256;
const CHECK_EVERY_MS = 1_000;
const FIRST_BLOCK = Buffer.of(1);

export class Key {
	#secret;
	/** @type {Buffer | undefined} */
	#stateKey;

	/**
	 * @param {number} kid
	 * @param {Uint8Array} secret
	 */
	constructor(kid, secret) {
		this.kid = kid;
		this.#secret = secret;
	}

	/**
	 * HKDF-SHA256 (RFC 5869): 32 bytes for one use of the secret. Out of HMAC,
	 * in half the time of `hkdfSync`.
	 *
	 * @param {Uint8Array | string} salt
	 * @param {Uint8Array | string} info
	 */
	derive(salt, info) {
		const extracted = createHmac('sha256', salt).update(this.#secret).digest();
		return createHmac('sha256', extracted).update(info).update(FIRST_BLOCK).digest();
	}

	/** The key of state tokens, the same for all of them. */
	get stateKey() {
		this.#stateKey ??= this.derive('', 'urlmode state v1');
		return this.#stateKey;
	}
}

/**
 * What mints and opens: the keys of a file as they were read.
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
	if (minting === undefined) throw new TypeError('a key ring needs a key');
	return { minting, find: (kid) => byKid.get(kid) };
}

/**
 * Either alphabet, with or without padding; nothing that decodes to the same
 * bytes in two ways.
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
 * @param {string} at file and line, for the error
 */
function parseLine(line, at) {
	const [kid, secret, ...more] = line.split(/[ \t]+/);
	if (kid === undefined || secret === undefined || more.length > 0) {
		throw new KeysFileError(`${at}: not \`<kid> <base64 of the key>\``);
	}
	if (!/^[0-9]+$/.test(kid) || Number(kid) > 255) {
		throw new KeysFileError(`${at}: the kid is not a number from 0 to 255`);
	}
	const bytes = decodeBase64(secret);
	if (bytes === undefined || bytes.length > SECRET_MAX) {
		throw new KeysFileError(`${at}: the key is not base64, or over ${SECRET_MAX} bytes`);
	}
	if (bytes.length < SECRET_MIN) {
		throw new KeysFileError(`${at}: the key is under ${SECRET_MIN} bytes`);
	}
	return new Key(Number(kid), bytes);
}

/**
 * @param {string} text
 * @param {string} file its name, for errors
 */
export function parseKeys(text, file) {
	/** @type {Map<number, Key>} */
	const keys = new Map();
	for (const [index, raw] of text.split('\n').entries()) {
		const line = raw.replace(/^[ \t\r]+|[ \t\r]+$/g, '');
		if (line === '' || line.startsWith('#')) continue;
		const key = parseLine(line, `${file}:${index + 1}`);
		if (keys.has(key.kid)) {
			throw new KeysFileError(`${file}:${index + 1}: kid ${key.kid} stands here twice`);
		}
		keys.set(key.kid, key);
	}
	if (keys.size === 0) throw new KeysFileError(`${file}: no key in it`);
	return keyRing([...keys.values()]);
}

/** @param {import('node:fs').BigIntStats} stat */
function versionOf(stat) {
	return [stat.dev, stat.ino, stat.size, stat.mode, stat.mtimeNs, stat.ctimeNs].join(' ');
}

/**
 * @param {string} file
 * @returns {string} differs when the file does; one value for a file that cannot be looked at
 */
function versionAt(file) {
	try {
		return versionOf(statSync(file, { bigint: true }));
	} catch {
		return 'none';
	}
}

/**
 * @param {string} file
 * @param {unknown} error
 */
function refusal(file, error) {
	if (error instanceof KeysFileError) return error;
	return new KeysFileError(`${file}: ${error instanceof Error ? error.message : 'cannot be read'}`);
}

/**
 * Reads the file, and again when it changes on disk: a key that was added on
 * top mints at once, a key that was dropped opens nothing. A change that is
 * not a good keys file leaves the keys as they were, with one warning.
 *
 * @implements {KeyRing}
 */
export class KeysFile {
	#file;
	/** @type {KeyRing} */
	#keys;
	#version = '';
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
			throw refusal(file, error);
		}
	}

	get minting() {
		this.#refresh(CHECK_EVERY_MS);
		return this.#keys.minting;
	}

	/**
	 * A kid that is not known may just have been added: that looks at once.
	 *
	 * @param {number} kid
	 */
	find(kid) {
		this.#refresh(CHECK_EVERY_MS);
		const key = this.#keys.find(kid);
		if (key !== undefined) return key;
		this.#refresh(0);
		return this.#keys.find(kid);
	}

	/** @returns {KeyRing} */
	#read() {
		const fd = openSync(this.#file, 'r');
		try {
			// Before the content: what is written after this is read next time.
			const stat = fstatSync(fd, { bigint: true });
			this.#version = versionOf(stat);
			if (!stat.isFile()) throw new KeysFileError(`${this.#file}: not a file`);
			if ((stat.mode & 0o007n) !== 0n) {
				throw new KeysFileError(`${this.#file}: others may read or write it; chmod o= it`);
			}
			return parseKeys(readFileSync(fd, 'latin1'), this.#file);
		} finally {
			closeSync(fd);
		}
	}

	/** @param {number} maxAge milliseconds since the last look */
	#refresh(maxAge) {
		const now = performance.now();
		if (now - this.#checkedAt < maxAge) return;
		this.#checkedAt = now;
		const version = versionAt(this.#file);
		if (version === this.#version) return;
		this.#version = version;
		try {
			this.#keys = this.#read();
		} catch (error) {
			process.emitWarning(`${refusal(this.#file, error).message}; the keys stay as they were`,
				{ type: 'UrlModeWarning', code: 'URLMODE_KEYS_FILE' });
		}
	}
}
