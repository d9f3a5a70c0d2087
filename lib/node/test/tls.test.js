// TLS to a real PostgreSQL: for each URL the package connects where psql does,
// and refuses where psql refuses.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';

import { Client } from '../src/core/connection.js';
import { checkDatabaseUrl } from '../src/core/database-url.js';
import { Cluster } from './support/cluster.js';
import { request, setUp } from './support/database.js';
import { scratchFolder } from './support/keys.js';

const openssl = (...args) => execFileSync('openssl', args, { stdio: 'ignore' });
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Two certificate authorities, of which the first has signed the server's certificate, for this name. */
function makeCertificates(folder, name) {
	const file = (of) => join(folder, of);
	for (const authority of ['root', 'other']) {
		openssl('req', '-x509', ...KEY, '-subj', `/CN=${authority}`, '-days', '2', '-keyout', file(`${authority}.key`), '-out', file(`${authority}.crt`));
	}
	openssl('req', ...KEY, '-subj', '/CN=database', '-addext', `subjectAltName=${name}`, '-keyout', file('server.key'), '-out', file('server.csr'));
	openssl('x509', '-req', '-in', file('server.csr'), '-CA', file('root.crt'), '-CAkey', file('root.key'), '-CAcreateserial',
		'-days', '2', '-copy_extensions', 'copy', '-out', file('server.crt'));
}

/** A PostgreSQL that takes nothing but TLS. */
function startWithTls(t, folder) {
	return Cluster.start(t, (data, { uid, gid }) => {
		for (const name of ['server.key', 'server.crt']) {
			copyFileSync(join(folder, name), join(data, name));
			chmodSync(join(data, name), 0o600);
			if (uid !== undefined) chownSync(join(data, name), uid, gid);
		}
		return '-c ssl=on';
	});
}

async function connects(url) {
	const client = new Client(checkDatabaseUrl(url));
	client.on('error', () => {});
	try {
		await client.connect();
		const { rows } = await client.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
		return rows[0].ssl ? 'TLS' : 'plain';
	} finally {
		await client.end().catch(() => {});
	}
}

async function psqlConnects(url, home) {
	const { stdout } = await promisify(execFile)('psql', ['-XAt', url, '-c', 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'],
		{ env: { ...process.env, HOME: home } });
	return stdout.trim() === 't' ? 'TLS' : 'plain';
}

test('each sslmode connects where psql connects, and refuses where psql refuses', async (t) => {
	const folder = scratchFolder(t);
	makeCertificates(folder, 'DNS:localhost');
	const cluster = await startWithTls(t, folder);
	const before = process.env.HOME;
	process.env.HOME = join(folder, 'home');
	t.after(() => (process.env.HOME = before));
	mkdirSync(join(folder, 'home/.postgresql'), { recursive: true });

	const root = `sslrootcert=${folder}/root.crt`;
	const other = `sslrootcert=${folder}/other.crt`;
	for (const [host, query, expected] of [
		['localhost', 'sslmode=disable', 'plain'],
		['localhost', 'sslmode=require', 'TLS'],
		['127.0.0.1', 'sslmode=require', 'TLS'],
		['localhost', `sslmode=require&${root}`, 'TLS'],
		['localhost', `sslmode=require&${other}`, 'refused'],
		['127.0.0.1', `sslmode=verify-ca&${root}`, 'TLS'],
		['localhost', `sslmode=verify-ca&${other}`, 'refused'],
		['localhost', `sslmode=verify-full&${root}`, 'TLS'],
		['127.0.0.1', `sslmode=verify-full&${root}`, 'refused'],
		['localhost', `sslmode=verify-full&${other}`, 'refused'],
		['localhost', 'sslmode=verify-full', 'refused'],
		['127.0.0.1,localhost', `sslmode=verify-full&${root}&target_session_attrs=read-write`, 'TLS'],
		['127.0.0.1', `sslmode=verify-full&${root}&target_session_attrs=read-write`, 'refused'],
	]) {
		const hosts = host.split(',').map((each) => `${each}:${cluster.port}`).join(',');
		const url = cluster.urlOf('urlmode_server', { hosts, query: `?${query}` });
		assert.equal(await connects(url).catch(() => 'refused'), expected, `${host} ${query}`);
		// With several hosts libpq stops at the first whose certificate is wrong.
		if (!host.includes(',')) assert.equal(await psqlConnects(url, process.env.HOME).catch(() => 'refused'), expected, `psql: ${host} ${query}`);
	}

	copyFileSync(join(folder, 'root.crt'), join(process.env.HOME, '.postgresql/root.crt'));
	const url = cluster.urlOf('urlmode_server', { hosts: `localhost:${cluster.port}`, query: '?sslmode=verify-full' });
	assert.deepEqual([await connects(url), await psqlConnects(url, process.env.HOME)], ['TLS', 'TLS'], '~/.postgresql/root.crt');
});

test('an address in the certificate is as good as a name', async (t) => {
	const folder = scratchFolder(t);
	makeCertificates(folder, 'IP:127.0.0.1');
	const cluster = await startWithTls(t, folder);
	const url = (host) => cluster.urlOf('urlmode_server', {
		hosts: `${host}:${cluster.port}`, query: `?sslmode=verify-full&sslrootcert=${folder}/root.crt`,
	});
	assert.equal(await connects(url('127.0.0.1')), 'TLS');
	await assert.rejects(connects(url('localhost')), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});

test('waits, notifications and calls go over TLS', async (t) => {
	const folder = scratchFolder(t);
	makeCertificates(folder, 'DNS:localhost');
	const cluster = await startWithTls(t, folder);
	const databaseUrl = cluster.urlOf('urlmode_server', {
		hosts: `localhost:${cluster.port}`, query: `?sslmode=verify-full&sslrootcert=${folder}/root.crt`,
	});
	const { urlmode, callback, admin } = await setUp(t, { ...cluster, databaseUrl });
	const { elicitationId } = await urlmode.create(request);
	const outcome = urlmode.waitForCompletion(elicitationId, { subject: 'user-42' });
	await callback.complete(elicitationId, { result: { code: 'c' } });
	assert.deepEqual((await outcome).result, { code: 'c' });
	const { rows } = await admin.query("SELECT bool_and(ssl) AS all FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'urlmode_server'");
	assert.equal(rows[0].all, true);
});
