// An id token of each algorithm, as a provider signs it: what the end of a sign-in
// takes to verify and to read it.

import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { BIN, FOLDER } from '../paths.mjs';
import { run } from '../processes.mjs';

const ISSUER = 'https://login.example.com/6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11/v2.0';
const CLIENT_ID = 'd2b7c1f4-6a3e-4b1c-8f2a-7f0e5c9b3a10';
const NONCE = 'n'.repeat(43);
const ROUNDS = 2_000;

const rsa = (more) => generateKeyPairSync('rsa', { modulusLength: 2048, ...more });
const ALGORITHMS = {
	RS256: { make: rsa, sign: (input, key) => sign('sha256', input, key) },
	PS256: { make: rsa, sign: (input, key) => sign('sha256', input, { key, padding: 6, saltLength: 32 }) },
	ES256: {
		make: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
		sign: (input, key) => sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }),
	},
	EdDSA: { make: () => generateKeyPairSync('ed25519'), sign: (input, key) => sign(null, input, key) },
};

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The claims that Entra sends with the scope "openid profile". */
function claims() {
	const now = Math.floor(Date.now() / 1_000);
	return {
		aud: CLIENT_ID, iss: ISSUER, iat: now, nbf: now, exp: now + 3_600, name: 'Ada Lovelace', nonce: NONCE,
		oid: '1b9e4c0a-2f3d-4c5b-9a8e-6d7f0c1b2a39', preferred_username: 'ada@corp.example', rh: '0.'.padEnd(60, 'A'),
		sub: 'A'.repeat(43), tid: '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11', uti: 'u'.repeat(22), ver: '2.0',
	};
}

/** @returns {Promise<Record<string, number>>} microseconds of processor time, by algorithm */
export async function idTokens() {
	const file = path.join(FOLDER, 'id-token.jwks.json');
	const keys = [];
	const tokens = Object.entries(ALGORITHMS).map(([alg, { make, sign: signInput }]) => {
		const { publicKey, privateKey } = make();
		keys.push({ ...publicKey.export({ format: 'jwk' }), kid: alg, use: 'sig', alg });
		const input = `${encode({ alg, typ: 'JWT', kid: alg })}.${encode(claims())}`;
		return `${input}.${signInput(Buffer.from(input), privateKey).toString('base64url')}`;
	});
	writeFileSync(file, JSON.stringify({ keys }));
	const printed = await run([path.join(BIN, 'id-token'), file, ISSUER, CLIENT_ID, NONCE, String(ROUNDS)],
		{ input: `${tokens.join('\n')}\n` });
	return Object.fromEntries(printed.trim().split('\n').map((us, index) => [Object.keys(ALGORITHMS)[index], Number(us)]));
}
