// urlmode migrate: what sql/migrate does with psql.

import { Client } from '../core/connection.js';
import * as sql from '../core/contract-calls.js';
import { checkDatabaseUrl } from '../core/database-url.js';
import { required } from './environment.js';
import { BEGIN, functionsVersion, hasFrameworks, readFunctions, readMigrations } from './migrations.js';
import { UsageError } from './usage-error.js';

export const help = `usage: urlmode migrate [--frameworks] [--dry-run]

Applies the migrations of the package, in order and each once, to the database
that URLMODE_ADMIN_DATABASE_URL names; its user must be able to create roles and a
schema. Each migration is one transaction. Then replaces the functions, in one
transaction; newer functions than those of the package are an error. Two runs at
the same time wait for each other. Stops at the first error, and leaves what was
applied before it.

  --frameworks  also the schema urlmode_frameworks, which FrontMCP and mcp-lite
                need; later runs know that it is there
  --dry-run     say what would be applied, and change nothing
`;

export const options = {
	frameworks: { type: /** @type {const} */ ('boolean') },
	'dry-run': { type: /** @type {const} */ ('boolean') },
};

const LOCK = "SELECT pg_advisory_xact_lock(hashtext('urlmode.migration'))";

/**
 * @param {string[]} args
 * @param {{ frameworks?: unknown, 'dry-run'?: unknown }} options
 */
export async function run(args, { frameworks, 'dry-run': dryRun }) {
	if (args.length > 0) throw new UsageError('urlmode migrate takes no argument');
	const url = required('URLMODE_ADMIN_DATABASE_URL', 'a connection string of a user who can create roles and a schema');
	const client = new Client({ ...checkDatabaseUrl(url), application_name: 'urlmode migrate' });
	client.on('error', () => {});
	await client.connect();
	try {
		if (dryRun) await list(client, Boolean(frameworks));
		else await apply(client, Boolean(frameworks));
	} finally {
		await client.end();
	}
	return 0;
}

/**
 * @param {Client} client
 * @param {boolean} frameworks
 */
async function list(client, frameworks) {
	const { rows: [found] } = await client.query(
		"SELECT to_regclass('urlmode.migration') IS NOT NULL AS exists, to_regproc('urlmode.functions_version') IS NOT NULL AS has_version");
	const { rows } = found.exists ? await client.query('SELECT name FROM urlmode.migration') : { rows: [] };
	const version = found.has_version ? await sql.functionsVersion(async (text, values) => (await client.query(text, values)).rows) : 0;
	const applied = rows.map(({ name }) => name);
	for (const { name } of readMigrations(frameworks || hasFrameworks(applied))) {
		if (!applied.includes(name)) process.stdout.write(`${name} would be applied\n`);
	}
	const own = functionsVersion();
	if (version < own) process.stdout.write(`functions of version ${own} would be applied\n`);
	if (version > own) process.stdout.write(`the functions are newer, of version ${version}, and would not be replaced by version ${own}\n`);
}

/**
 * @param {Client} client
 * @param {boolean} frameworks
 */
async function apply(client, frameworks) {
	await client.query('SET client_min_messages = warning');
	await transaction(client, () => execute(client, BEGIN));
	const { rows } = await client.query('SELECT name FROM urlmode.migration');
	const all = frameworks || hasFrameworks(rows.map(({ name }) => name));
	for (const file of readMigrations(all)) {
		await transaction(client, async () => {
			const { rowCount } = await client.query('SELECT FROM urlmode.migration WHERE name = $1', [file.name]);
			if (rowCount) return;
			process.stdout.write(`${file.name}\n`);
			await execute(client, file);
			await client.query('RESET ROLE');
			await client.query('INSERT INTO urlmode.migration (name) VALUES ($1)', [file.name]);
		});
	}
	await transaction(client, async () => {
		for (const file of readFunctions(all)) await execute(client, file);
	});
}

/**
 * @param {Client} client
 * @param {import('./migrations.js').SqlFile} file
 */
async function execute(client, { name, sql }) {
	await client.query(sql).catch(({ message, hint }) => {
		throw new Error([`${name}: ${message}`, hint].filter(Boolean).join('. '));
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
