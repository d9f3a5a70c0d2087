// Access tokens as JWTs, and the keys with which a server checks them.

import { generateKeyPairSync, sign } from 'node:crypto';

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @param {string} issuer */
export function openTokenIssuer(issuer) {
	const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const key = { kid: 'tests', alg: 'ES256', use: 'sig' };
	return {
		jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), ...key }] },
		/** @param {string} subject */
		tokenOf(subject) {
			const exp = Math.floor(Date.now() / 1_000) + 3_600;
			const signed = `${encode({ alg: key.alg, kid: key.kid, typ: 'JWT' })}.${encode({ iss: issuer, sub: subject, exp })}`;
			const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
			return `${signed}.${signature.toString('base64url')}`;
		},
	};
}
