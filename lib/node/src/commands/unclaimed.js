// urlmode unclaimed: the payments that no call has claimed.

import { UrlMode } from '../index.js';
import { BASE_URL, DATABASE_URL, KEYS_FILE, required, tenantOf } from './environment.js';
import { printable } from './printable.js';
import { UsageError } from './usage-error.js';

export const help = `usage: urlmode unclaimed [--tenant NAME] [--provider NAME] [--since WHEN] [--json]

Lists the payments that were proved, not refunded, and that no call has claimed,
the oldest first, as the role urlmode_server: URLMODE_DATABASE_URL,
URLMODE_KEYS_FILE and URLMODE_BASE_URL are those of the MCP server. A call may be
about to claim a payment that was proved a moment ago.

  --tenant NAME    those of this tenant; without it, those that have none
  --provider NAME  only of this provider
  --since WHEN     only those that were proved since, such as 2026-01-31T12:00Z
  --json           a JSON array of objects
`;

export const options = {
	tenant: { type: /** @type {const} */ ('string') },
	provider: { type: /** @type {const} */ ('string') },
	since: { type: /** @type {const} */ ('string') },
	json: { type: /** @type {const} */ ('boolean') },
};

/**
 * @param {string[]} args
 * @param {{ tenant?: unknown, provider?: unknown, since?: unknown, json?: unknown }} options
 */
export async function run(args, { tenant, provider, since, json }) {
	if (args.length > 0) throw new UsageError('urlmode unclaimed takes no argument');
	const from = since === undefined ? undefined : new Date(String(since));
	if (from && Number.isNaN(from.getTime())) throw new UsageError('--since takes a time, such as 2026-01-31T12:00Z');
	const urlmode = new UrlMode({
		databaseUrl: required('URLMODE_DATABASE_URL', DATABASE_URL),
		keysFile: required('URLMODE_KEYS_FILE', KEYS_FILE),
		baseUrl: required('URLMODE_BASE_URL', BASE_URL), tenant: tenantOf(tenant),
	});
	try {
		const payments = await urlmode.unclaimed({ ...provider !== undefined && { provider: String(provider) }, ...from && { since: from } });
		// The result may hold what only the server should see.
		const rows = payments.map(({ result, ...payment }) => payment);
		process.stdout.write(json ? `${JSON.stringify(rows, null, '\t')}\n` : rows.map(lineOf).join(''));
	} finally {
		await urlmode.close();
	}
	return 0;
}

/** @param {Omit<import('../core/money-types.js').UnclaimedPayment, 'result'>} payment */
function lineOf({ provenAt, provider, reference, amount, currency, matches, late, elicitationId, subject }) {
	const notes = [matches ? '' : ' (another amount than expected)', late ? ' (late)' : ''].join('');
	return `${provenAt.toISOString()}  ${provider}  ${printable(reference)}  ${amount} ${printable(currency)}${notes}  ${
		elicitationId}  ${printable(subject)}\n`;
}
