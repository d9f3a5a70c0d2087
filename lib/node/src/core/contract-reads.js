// Generated from lib/contract by `make contract`: change it there.

/**
 * The functions for MCP servers that only read. A statement that calls one can be sent once more if its connection was
 * lost before the answer came. Any other is sent again only if it is certain that it was not sent.
 */
export const READS = new Set([
	'urlmode.entitlements',
	'urlmode.functions_version',
	'urlmode.list_accounts',
	'urlmode.list_migrations',
	'urlmode.list_sealed',
	'urlmode.paid',
	'urlmode.read',
	'urlmode.read_accounts',
	'urlmode.read_exchange',
	'urlmode.reconcile',
	'urlmode.refunds',
	'urlmode.resume',
	'urlmode.resume_for',
	'urlmode.unclaimed',
	'urlmode.unclaimed_payments',
	'urlmode.undelivered',
	'urlmode.vault_keys',
	'urlmode_frameworks.mcp_events',
	'urlmode_frameworks.published_last',
	'urlmode_frameworks.published_since',
	'urlmode_frameworks.stored_get',
	'urlmode_frameworks.stored_keys',
]);
