// urlmode migrate: what sql/migrate does with psql.

import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from '../core/connection.js';
import * as sql from '../core/contract-database.js';
import { DEPLOYMENT_MAX, MIGRATION_TRIES } from '../core/contract-limits.js';
import { FIND_SCHEMA, READ_MIGRATIONS } from '../core/contract-statements.js';
import { TEXTS } from './contract-texts.js';
import { checkDatabaseUrl } from '../core/database-url.js';
import { required } from './environment.js';
import {
	APPLIED, BEGIN, BLOCKERS, functionsVersion, hasFrameworks, LOCK_FIRST, LOGINS, migrationDigests, namesOf, readFunctions, readMigrations, TURN,
	whoseDatabase, withNames,
} from './migrations.js';
import { UsageError } from './usage-error.js';

export { MIGRATE_HELP as help } from './contract-texts.js';

export const options = {
	frameworks: { type: /** @type {const} */ ('boolean') },
	deployment: { type: /** @type {const} */ ('string') },
	'revoke-others': { type: /** @type {const} */ ('boolean') },
	tries: { type: /** @type {const} */ ('string') },
	'dry-run': { type: /** @type {const} */ ('boolean') },
};

const DEPLOYMENT = new RegExp(`^[a-z][a-z0-9]{0,${DEPLOYMENT_MAX - 1}}$`);
/** SQLSTATEs of lock_timeout and of a deadlock. */
const IS_LOCKED = ['55P03', '40P01'];

/**
 * @param {string[]} args
 * @param {{ frameworks?: unknown, deployment?: string, 'revoke-others'?: unknown, tries?: unknown, 'dry-run'?: unknown }} options
 */
export async function run(args, { frameworks, deployment, 'revoke-others': revokeOthers, tries = String(MIGRATION_TRIES), 'dry-run': dryRun }) {
	if (!/^[1-9]\d{0,3}$/.test(String(tries))) throw new UsageError(TEXTS.triesNumber);
	if (args.length > 0) throw new UsageError('urlmode migrate takes no argument');
	if (deployment !== undefined && !DEPLOYMENT.test(deployment)) {
		throw new UsageError(TEXTS.deploymentName);
	}
	if (revokeOthers && deployment === undefined) throw new UsageError(TEXTS.revokeNeedsDeployment);
	const url = required('URLMODE_ADMIN_DATABASE_URL', 'a connection string of a user who can create roles and a schema');
	const client = new Client({ ...checkDatabaseUrl(url), application_name: 'urlmode migrate' });
	client.on('error', () => {});
	client.on('notice', ({ message }) => warn(String(message)));
	await client.connect();
	try {
		if (dryRun) return await list(client, Boolean(frameworks)) ? 0 : 1;
		await apply(client, { frameworks: Boolean(frameworks), deployment: deployment ?? '', revokeOthers: Boolean(revokeOthers), tries: Number(tries) });
	} finally {
		await client.end();
	}
	return 0;
}

/**
 * @param {Client} client
 * @param {boolean} frameworks
 * @returns {Promise<boolean>} false: migrate would refuse this database
 */
async function list(client, frameworks) {
	const { rows: [found] } = await client.query(FIND_SCHEMA);
	const { rows } = found.has_migrations ? await client.query(READ_MIGRATIONS) : { rows: [] };
	const digests = migrationDigests();
	const changed = rows.filter(({ name, digest }) => digest && digests[name] && digest !== digests[name]);
	for (const { name } of changed) process.stdout.write(`${TEXTS.migrationChanged(name)}\n`);
	const version = found.has_version ? await sql.functionsVersion(async (text, values) => (await client.query(text, values)).rows) : 0;
	const applied = rows.map(({ name }) => name);
	for (const { name } of readMigrations(frameworks || hasFrameworks(applied))) {
		if (!applied.includes(name)) process.stdout.write(`${TEXTS.migrationMissing(name)}\n`);
	}
	const own = functionsVersion();
	if (version < own) process.stdout.write(`${TEXTS.functionsOlder(own)}\n`);
	if (version > own) process.stdout.write(`${TEXTS.functionsNewer(version, own)}\n`);
	return changed.length === 0 && version <= own;
}

/**
 * @param {Client} client
 * @param {{ frameworks: boolean, deployment: string, revokeOthers: boolean, tries: number }} options
 */
async function apply(client, { frameworks, deployment, revokeOthers, tries }) {
	await client.query('SET client_min_messages = warning');
	const { rows: [whose] } = await client.query(whoseDatabase(deployment));
	const names = { ...namesOf(whose), revoke_others: String(revokeOthers), digests: JSON.stringify(migrationDigests()) };
	let left = tries;
	/** @param {string} name @param {() => Promise<unknown>} statements */
	const transaction = async (name, statements) => {
		while (!await tried(client, statements)) {
			left -= 1;
			warn(TEXTS.migrationWaited(name, tries - left, tries));
			for (const { line } of (await client.query(BLOCKERS)).rows) warn(`  ${line}`);
			if (left === 0) throw new Error(TEXTS.migrationGaveUp);
			await sleep(Math.min(tries - left, 5) * 1_000);
		}
	};
	await transaction(BEGIN.name, () => execute(client, BEGIN, names));
	const applied = async () => (await client.query(READ_MIGRATIONS)).rows.map(({ name }) => name);
	const all = frameworks || hasFrameworks(await applied());
	for (const file of readMigrations(all)) {
		let missing = true;
		await transaction(file.name, async () => {
			missing = !(await applied()).includes(file.name);
			if (!missing) return;
			if (/\burlmode\.elicitation\b/.test(file.sql)) await client.query(LOCK_FIRST);
			await execute(client, file, names);
			await client.query(withNames(APPLIED, { ...names, file: file.name }));
		});
		if (missing) process.stdout.write(`${file.name}\n`);
	}
	await transaction(LOGINS.name, () => execute(client, LOGINS, names));
	await transaction('functions/', async () => {
		for (const file of readFunctions(all)) await execute(client, file, names);
	});
}

/**
 * @param {Client} client
 * @param {import('./migrations.js').SqlFile} file
 * @param {import('./migrations.js').Names} names
 */
async function execute(client, { name, sql }, names) {
	await client.query(withNames(sql, names)).catch(({ message, hint, code }) => {
		throw Object.assign(new Error([`${name}: ${message}`, hint].filter(Boolean).join('. ')), { code });
	});
}

/** @param {string} line */
function warn(line) {
	process.stderr.write(`urlmode migrate: ${line}\n`);
}

/**
 * @param {Client} client
 * @param {() => Promise<unknown>} statements
 * @returns {Promise<boolean>} false: another session holds what it would lock, and nothing has happened
 */
async function tried(client, statements) {
	await client.query('BEGIN');
	try {
		await client.query(TURN);
		await statements();
		await client.query('COMMIT');
		return true;
	} catch (error) {
		await client.query('ROLLBACK').catch(() => {});
		if (error instanceof Error && 'code' in error && IS_LOCKED.includes(String(error.code))) return false;
		throw error;
	}
}
