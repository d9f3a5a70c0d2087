import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { parseKeys } from '../src/core/keys.js';
import { accountOwner, whoseAccount } from '../src/vault/account-owner.js';
import { openTokens, sealTokens } from '../src/vault/sealed-tokens.js';
import { connect, requireUrl } from './support/database.js';
import { keyLine } from './support/keys.js';

test('what is sealed opens only for its subject, provider and account, and unchanged', () => {
	const keys = parseKeys(keyLine(3), 'keys');
	const place = { subject: 'ada', provider: 'github', account: '1' };
	const tokens = { access_token: 'a', token_type: 'bearer' };
	const sealed = sealTokens(keys, place, tokens);
	assert.deepEqual(openTokens(keys, place, sealed), tokens);
	for (const other of [{ ...place, subject: 'adb' }, { ...place, provider: 'gitlab' }, { ...place, account: '2' },
		{ subject: 'ada\0github', provider: '1', account: '' }]) {
		assert.throws(() => openTokens(keys, other, sealed), { code: 'ACCOUNT_SEAL', message: /not genuine/ });
	}
	for (let bit = 0; bit < sealed.length * 8; bit += 1) {
		const changed = Buffer.from(sealed);
		changed[bit >> 3] ^= 1 << (bit & 7);
		assert.throws(() => openTokens(keys, place, changed), { code: 'ACCOUNT_SEAL' }, `bit ${bit}`);
	}
});

const vectors = JSON.parse(readFileSync(new URL('../../../tests/vectors/vault.json', import.meta.url), 'utf8'));
test('no two subjects of tenants have accounts with the same owner, whatever characters they have; in SQL as well', async (t) => {
	const admin = await connect(t, requireUrl('URLMODE_ADMIN_DATABASE_URL'));
	for (const { tenant, subject, owner } of vectors.owners) {
		const { rows } = await admin.query('SELECT urlmode.account_owner($1, $2) AS owner', [tenant, subject]);
		assert.deepEqual([accountOwner(tenant, subject), rows, whoseAccount(owner)], [owner, [{ owner }], { tenant, subject }]);
	}
	assert.equal(new Set(vectors.owners.map(({ owner }) => owner)).size, vectors.owners.length);
});

for (const vector of vectors.tokens) {
	test(`vector: ${vector.name}`, () => {
		const keys = parseKeys(`${vector.kid} ${Buffer.from(vector.secret_hex, 'hex').toString('base64')}`, 'keys');
		const sealed = sealTokens(keys, vector, JSON.parse(vector.json), Buffer.from(vector.nonce_hex, 'hex'));
		assert.equal(sealed.toString('hex'), vector.blob_hex);
		assert.deepEqual(openTokens(keys, vector, Buffer.from(vector.blob_hex, 'hex')), JSON.parse(vector.json));
	});
}
