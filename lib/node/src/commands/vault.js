// urlmode vault: the keys of the vault.

import { KeysFile } from '../core/keys.js';
import { UrlMode } from '../index.js';
import { Vault } from '../vault.js';
import { BASE_URL, DATABASE_URL, KEYS_FILE, required, tenantOf, VAULT_KEYS_FILE } from './environment.js';
import { kidsOf } from './keys.js';
import { printable } from './printable.js';
import { UsageError } from './usage-error.js';

export const help = `usage: urlmode vault keys [--tenant NAME]
       urlmode vault reseal [--tenant NAME]

  keys    which keys the vault still needs, and for how many accounts. The status
          is 1 if one of them is not in the file. No secret is shown
  reseal  seals all accounts with the first key of the file, in batches, while the
          MCP servers are running. An account that does not open stays as it is and
          is listed, and the status is 1

  --tenant NAME  the accounts of this tenant; without it, those that have none

To replace a key: put a new one on top of the file of every MCP server (urlmode keys
new writes one), run urlmode vault reseal, and remove the old one when urlmode vault
keys says that it can be removed.

URLMODE_VAULT_KEYS_FILE is the vault's keys file, which no callback host has;
URLMODE_DATABASE_URL, URLMODE_KEYS_FILE and URLMODE_BASE_URL are those of the MCP
server.
`;

export const options = { tenant: { type: /** @type {const} */ ('string') } };

/**
 * @param {string[]} args
 * @param {{ tenant?: unknown }} options
 */
export async function run([verb, ...more], { tenant }) {
	if (more.length > 0 || (verb !== 'keys' && verb !== 'reseal')) throw new UsageError('urlmode vault keys, or urlmode vault reseal');
	const keysFile = required('URLMODE_VAULT_KEYS_FILE', VAULT_KEYS_FILE);
	const urlmode = new UrlMode({
		databaseUrl: required('URLMODE_DATABASE_URL', DATABASE_URL),
		keysFile: required('URLMODE_KEYS_FILE', KEYS_FILE),
		baseUrl: required('URLMODE_BASE_URL', BASE_URL), tenant: tenantOf(tenant),
	});
	try {
		const vault = new Vault(urlmode, { keysFile, providers: {} });
		if (verb === 'keys') return await list(keysFile, vault);
		vault.on('unopened', ({ subject, provider, account, reason }) => {
			process.stderr.write(`not sealed anew: ${provider}  ${printable(account)}  ${printable(subject)}: ${reason}\n`);
		});
		const { sealed, unopened } = await vault.reseal();
		process.stdout.write(`${countOf(sealed)} sealed with the first key of ${printable(keysFile)}\n`);
		if (unopened > 0) process.stderr.write(`${countOf(unopened)} not sealed anew\n`);
		return unopened === 0 ? 0 : 1;
	} finally {
		await urlmode.close();
	}
}

/**
 * @param {string} file
 * @param {Vault} vault
 */
async function list(file, vault) {
	const keys = new KeysFile(file);
	const known = kidsOf(keys);
	const used = new Map((await vault.keysInUse()).map(({ kid, accounts }) => [kid, accounts]));
	process.stdout.write(`${printable(file)}:\n`);
	for (const kid of known) {
		const isMinting = kid === keys.minting.kid;
		const removable = !isMinting && !used.has(kid) ? ', it can be removed' : '';
		process.stdout.write(`  key ${kid} ${isMinting ? 'seals and opens' : 'opens'}: ${countOf(used.get(kid) ?? 0)}${removable}\n`);
	}
	const missing = [...used].filter(([kid]) => !known.includes(kid));
	for (const [kid, accounts] of missing) process.stdout.write(`  key ${kid} is missing: ${countOf(accounts)} cannot be opened\n`);
	return missing.length === 0 ? 0 : 1;
}

/** @param {number} accounts */
function countOf(accounts) {
	return accounts === 1 ? '1 account' : `${accounts} accounts`;
}
