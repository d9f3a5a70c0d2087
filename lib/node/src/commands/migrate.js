// urlmode migrate: what sql/migrate does with psql.

import { Client } from '../client.js';
import { checkDatabaseUrl } from '../database-url.js';
import { required } from './environment.js';
import { readFunctions, readMigrations, withRoles } from './migrations.js';
import { UsageError } from './usage-error.js';

export const help = `usage: urlmode migrate [--dry-run]

Applies the migrations of the package, in order and each once, to the database
that URLMODE_ADMIN_DATABASE_URL names; its user must be able to create roles and a
schema. Each migration is one transaction. Then replaces all functions, in one
transaction. Two runs at the same time wait for each other. Stops at the first
error, and leaves what was applied before it.

  --dry-run  say what would be applied, and change nothing
`;

export const options = { 'dry-run': { type: /** @type {const} */ ('boolean') } };

const LOCK = "SELECT pg_advisory_xact_lock(hashtext('urlmode.migration'))";
const TABLE = `
	SET LOCAL client_min_messages = warning;
	CREATE SCHEMA IF NOT EXISTS urlmode;
	CREATE TABLE IF NOT EXISTS urlmode.migration (
		name       text COLLATE "C" PRIMARY KEY,
		applied_at timestamptz NOT NULL DEFAULT now()
	);
	COMMENT ON SCHEMA urlmode IS 'URL-mode elicitations: their state, and the functions that change it.';
	COMMENT ON TABLE urlmode.migration IS 'The migrations of tables that have been applied.';
	COMMENT ON COLUMN urlmode.migration.name IS 'The name of its file in sql/tables/.';
	COMMENT ON COLUMN urlmode.migration.applied_at IS 'When it was applied.';
`;
const RIGHTS = `
	SET LOCAL ROLE :"owner";
	REVOKE ALL ON ALL FUNCTIONS IN SCHEMA urlmode FROM PUBLIC, :"cgi", :"server", :"operator";
`;

/**
 * @param {string[]} args
 * @param {{ 'dry-run'?: unknown }} options
 */
export async function run(args, { 'dry-run': dryRun }) {
	if (args.length > 0) throw new UsageError('urlmode migrate takes no argument');
	const url = required('URLMODE_ADMIN_DATABASE_URL', 'a connection string of a user who can create roles and a schema');
	const client = new Client({ ...checkDatabaseUrl(url), application_name: 'urlmode migrate' });
	client.on('error', () => {});
	await client.connect();
	try {
		if (dryRun) await list(client);
		else await apply(client);
	} finally {
		await client.end();
	}
	return 0;
}

/** @param {Client} client */
async function list(client) {
	const { rows: [found] } = await client.query("SELECT to_regclass('urlmode.migration') IS NOT NULL AS exists");
	const { rows } = found.exists ? await client.query('SELECT name FROM urlmode.migration') : { rows: [] };
	const applied = new Set(rows.map(({ name }) => name));
	for (const { name } of readMigrations()) {
		if (!applied.has(name)) process.stdout.write(`${name} would be applied\n`);
	}
}

/** @param {Client} client */
async function apply(client) {
	await transaction(client, () => client.query(TABLE));
	for (const { name, sql } of readMigrations()) {
		await transaction(client, async () => {
			const { rowCount } = await client.query('SELECT FROM urlmode.migration WHERE name = $1', [name]);
			if (rowCount) return;
			process.stdout.write(`${name}\n`);
			await execute(client, name, sql);
			await client.query('RESET ROLE');
			await client.query('INSERT INTO urlmode.migration (name) VALUES ($1)', [name]);
		});
	}
	await transaction(client, async () => {
		await client.query(withRoles(RIGHTS));
		for (const { name, sql } of readFunctions()) await execute(client, name, sql);
	});
}

/**
 * @param {Client} client
 * @param {string} name
 * @param {string} sql
 */
async function execute(client, name, sql) {
	await client.query(withRoles(sql)).catch((error) => {
		throw new Error(`${name}: ${error.message}`);
	});
}

/**
 * @param {Client} client
 * @param {() => Promise<unknown>} statements
 */
async function transaction(client, statements) {
	await client.query('BEGIN');
	try {
		await client.query(LOCK);
		await statements();
		await client.query('COMMIT');
	} catch (error) {
		await client.query('ROLLBACK').catch(() => {});
		throw error;
	}
}
