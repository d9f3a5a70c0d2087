// urlmode accounts: the accounts of the vault, without their tokens.

import { internalsOf } from '../core/internals.js';
import { UrlMode } from '../index.js';
import { VaultDatabase } from '../vault/database.js';
import { BASE_URL, DATABASE_URL, KEYS_FILE, required, tenantOf } from './environment.js';
import { printable } from './printable.js';
import { UsageError } from './usage-error.js';

export const help = `usage: urlmode accounts [--tenant NAME] [--subject NAME] [--provider NAME]
                        [--state STATE] [--json]

Lists the accounts that users have connected, the one that was connected last first,
as the role urlmode_server: URLMODE_DATABASE_URL, URLMODE_KEYS_FILE and
URLMODE_BASE_URL are those of the MCP server. It opens no token.

  --tenant NAME    those of this tenant; without it, those that have none
  --subject NAME   only those of this user
  --provider NAME  only those at this provider
  --state STATE    only those in this state: connected, or reconnect (the user has
                   to connect the account again; the reason is shown)
  --json           a JSON array of objects
`;

export const options = {
	tenant: { type: /** @type {const} */ ('string') },
	subject: { type: /** @type {const} */ ('string') },
	provider: { type: /** @type {const} */ ('string') },
	state: { type: /** @type {const} */ ('string') },
	json: { type: /** @type {const} */ ('boolean') },
};

/**
 * @param {string[]} args
 * @param {Record<string, string | boolean | undefined>} options
 */
export async function run(args, { tenant, subject, provider, state, json }) {
	if (args.length > 0) throw new UsageError('urlmode accounts takes no argument');
	if (state !== undefined && state !== 'connected' && state !== 'reconnect') throw new UsageError('--state takes connected or reconnect');
	const urlmode = new UrlMode({
		databaseUrl: required('URLMODE_DATABASE_URL', DATABASE_URL),
		keysFile: required('URLMODE_KEYS_FILE', KEYS_FILE),
		baseUrl: required('URLMODE_BASE_URL', BASE_URL), tenant: tenantOf(tenant),
	});
	try {
		const text = (/** @type {unknown} */ value) => (value === undefined ? null : String(value));
		const rows = await new VaultDatabase(internalsOf(urlmode).database, tenantOf(tenant)).list(text(subject), text(provider), text(state));
		process.stdout.write(json ? `${JSON.stringify(rows, null, '\t')}\n` : rows.map(lineOf).join(''));
	} finally {
		await urlmode.close();
	}
	return 0;
}

/** @param {import('../vault/database.js').OperatorRow} row */
function lineOf({ subject, provider, account, state, reason, scopes, connectedAt, refreshedAt }) {
	return `${connectedAt.toISOString()}  ${provider}  ${printable(account)}  ${printable(subject)}  ${state}${reason && ` (${printable(reason)})`}  refreshed ${
		refreshedAt.toISOString()}  ${printable(scopes.join(' '))}\n`;
}
