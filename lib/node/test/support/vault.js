// An account in a vault, at a provider that the test commands.

import { randomUUID } from 'node:crypto';

import { Vault } from '../../src/vault.js';
import { setUp } from './database.js';
import { keyLine, scratchKeys } from './keys.js';
import { TokenEndpoint } from './token-endpoint.js';

export const provider = 'demo';

/** A user whose account is connected, and a vault that knows its provider. */
export async function setUpVault(t, { expiresIn = 3_600, expired = false, keysFile = scratchKeys(t, keyLine(7)) } = {}) {
	const fixture = await setUp(t);
	const endpoint = await TokenEndpoint.start(t);
	const subject = `user-${randomUUID()}`;
	const openVault = (urlmode) => new Vault(urlmode, { keysFile, providers: { [provider]: endpoint.options } });
	const vault = openVault(fixture.urlmode);
	const place = { subject, provider, account: 'acme' };
	await vault.store(place, { tokens: endpoint.grant(expiresIn), account: { id: 'acme' }, scopes: ['read', 'write'] });
	const row = async () => (await fixture.admin.query('SELECT * FROM urlmode.account WHERE subject = $1', [subject])).rows[0];
	const change = (text) => fixture.admin.query(`UPDATE urlmode.account SET ${text} WHERE subject = $1`, [subject]);
	/** The tables that name the user. */
	const naming = async () => {
		const { rows: tables } = await fixture.admin.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'urlmode' ORDER BY 1");
		const named = [];
		for (const { name } of tables) {
			const { rows: found } = await fixture.admin.query(`SELECT FROM urlmode.${name} t WHERE t::text LIKE $1`, [`%${subject}%`]);
			if (found.length > 0) named.push(name);
		}
		return named;
	};
	if (expired) await change("expires_at = now(), refreshed_at = now() - interval '1 hour'");
	return { ...fixture, endpoint, subject, vault, openVault, keysFile, place, row, change, naming, key: { subject, provider } };
}
