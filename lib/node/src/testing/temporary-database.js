// A real database for one test: what the migrations make, and nothing else.

import { randomBytes } from 'node:crypto';

import { BEGIN, LOGINS, namesOf, readFunctions, readMigrations, withNames } from '../commands/migrations.js';
import { Client } from '../core/connection.js';
import { LOCK_MIGRATIONS, UNLOCK_MIGRATIONS } from '../core/contract-statements.js';
import { checkDatabaseUrl } from '../core/database-url.js';

const NAMES = { ...namesOf({ prefix: 'urlmode', owner: 'urlmode_owner' }), revoke_others: 'false', digests: '{}' };

/**
 * Makes a database with the schema. The roles urlmode_owner, urlmode_cgi, urlmode_server and urlmode_operator are made if they are missing, and
 * stay.
 *
 * @param {string} adminUrl of PostgreSQL, as a superuser
 * @param {{ frameworks?: boolean }} [options] `frameworks`: also with what FrontMCP and mcp-lite need
 * @returns {Promise<{ url: string, drop: () => Promise<void> }>} the `databaseUrl`, whose sessions have the role urlmode_server, as a server has
 *     it. `drop` drops the database, whoever is connected to it
 */
export async function temporaryDatabase(adminUrl, { frameworks = false } = {}) {
	const name = `urlmode_test_${randomBytes(8).toString('hex')}`;
	const drop = () => connected(checkDatabaseUrl(adminUrl), (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
	await connected(checkDatabaseUrl(adminUrl), async (admin) => {
		// As migrations wait for each other: the roles are those of the cluster.
		await admin.query(LOCK_MIGRATIONS);
		await admin.query(`CREATE DATABASE ${name}`);
		try {
			await connected({ ...checkDatabaseUrl(adminUrl), database: name }, (client) => makeSchema(client, frameworks));
		} catch (error) {
			await drop();
			throw error;
		}
		await admin.query(UNLOCK_MIGRATIONS);
	});
	return { url: withDatabase(adminUrl, name), drop };
}

/** @param {import('../core/database-url.js').DatabaseConfig} config @param {(client: Client) => Promise<unknown>} work */
async function connected(config, work) {
	const client = new Client(config);
	client.on('error', () => {});
	await client.connect();
	try {
		await work(client);
	} finally {
		await client.end();
	}
}

/** @param {Client} client @param {boolean} frameworks */
async function makeSchema(client, frameworks) {
	/** @param {import('../commands/migrations.js').SqlFile[]} files @param {string} [more] */
	const apply = async (files, more = '') => {
		await client.query(`BEGIN; ${files.map(({ sql }) => withNames(sql, NAMES)).join('\n')}\n${more}; COMMIT`);
	};
	await client.query('SET client_min_messages = warning');
	await apply([BEGIN]);
	for (const file of readMigrations(frameworks)) await apply([file], `RESET ROLE; INSERT INTO urlmode.migration (name) VALUES ('${file.name}')`);
	await apply([LOGINS]);
	await apply(readFunctions(frameworks));
}

/** @param {string} url of PostgreSQL @param {string} name */
function withDatabase(url, name) {
	const [, start = '', query = ''] = /^(\w+:\/\/[^/?]*)(?:\/[^?]*)?(?:\?(.*))?$/.exec(url) ?? [];
	const given = new URLSearchParams(query);
	given.delete('dbname');
	const options = `${given.get('options') ?? ''} -c role=urlmode_server`.trim();
	given.delete('options');
	return `${start}/${name}?${[given.toString(), `options=${encodeURIComponent(options)}`].filter(Boolean).join('&')}`;
}
