// How the URL of the database is read, compared with libpq.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { checkDatabaseUrl } from '../src/core/database-url.js';
import { scratchFolder } from './support/keys.js';

/** Sets variables of the environment until the end of the test. */
function setEnv(t, variables) {
	const before = { ...process.env };
	Object.assign(process.env, variables);
	t.after(() => {
		for (const name of Object.keys(variables)) {
			if (before[name] === undefined) delete process.env[name];
			else process.env[name] = before[name];
		}
	});
}

const hostsOf = (url) => checkDatabaseUrl(url).hosts.map(({ host, port }) => `${host} ${port}`).join(', ');

for (const [url, hosts] of Object.entries({
	'postgresql://db.example': 'db.example 5432',
	'postgres://u@db.example:6000/urlmode': 'db.example 6000',
	'postgresql://one:1,two:65535': 'one 1, two 65535',
	'postgresql://one,two:6000,three': 'one 5432, two 6000, three 5432',
	'postgresql://[2001:db8::1]:6000,[::1]/x': '2001:db8::1 6000, ::1 5432',
	'postgresql://%2Fvar%2Frun%2Fpostgresql/urlmode': '/var/run/postgresql 5432',
	'postgresql:///urlmode?host=/tmp&port=6000': '/tmp 6000',
	'postgresql:///urlmode?host=one,two&port=6000': 'one 6000, two 6000',
	'postgresql:///urlmode?host=one,two&port=1,2': 'one 1, two 2',
	'postgresql://u:p@/urlmode': 'localhost 5432',
	'postgresql://': 'localhost 5432',
})) {
	test(`the hosts of ${url}`, () => assert.equal(hostsOf(url), hosts));
}

test('user, password and database, percent-encoded', () => {
	const { user, password, database } = checkDatabaseUrl('postgresql://us%40er:p%3Aa%2Fs:s%25@db.example/d%C3%A9mo%20x');
	assert.deepEqual({ user, password, database }, { user: 'us@er', password: 'p:a/s:s%', database: 'démo x' });
	const byName = checkDatabaseUrl('postgresql://db.example?user=u&password=p%26&dbname=d');
	assert.deepEqual([byName.user, byName.password, byName.database], ['u', 'p&', 'd']);
});

test('several hosts must take writes unless it is said otherwise; of one, nothing is asked', () => {
	const attrs = (url) => checkDatabaseUrl(url).sessionAttrs;
	assert.equal(attrs('postgresql://one'), 'any');
	assert.equal(attrs('postgresql://one,two'), 'read-write');
	assert.equal(attrs('postgresql://one,two?target_session_attrs=any'), 'any');
	assert.equal(attrs('postgresql://one?target_session_attrs=primary'), 'primary');
});

test('the environment says what the URL does not', (t) => {
	setEnv(t, {
		PGHOST: 'one,two', PGPORT: '1,2', PGTARGETSESSIONATTRS: 'primary', PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd',
		PGAPPNAME: 'a', PGCONNECT_TIMEOUT: '3',
	});
	assert.equal(hostsOf('postgresql://'), 'one 1, two 2');
	assert.equal(hostsOf('postgresql://three'.concat(':7')), 'three 7');
	const { sessionAttrs, user, password, database, application_name: name, connectionTimeoutMillis } = checkDatabaseUrl('postgresql://');
	assert.deepEqual({ sessionAttrs, user, password, database, name, connectionTimeoutMillis }, {
		sessionAttrs: 'primary', user: 'u', password: 'p', database: 'd', name: 'a', connectionTimeoutMillis: 3_000,
	});
});

test('what cannot be obeyed is an error that names it, and never says the password', () => {
	for (const [url, message] of Object.entries({
		'postgresql://u:hunter2@h/d?keepalives=1': /the parameter keepalives, which is not supported/,
		'postgresql://u:hunter2@h/d?sslcrl=x': /the parameter sslcrl/,
		'postgresql://u:hunter2@h/d?load_balance_hosts=random': /the parameter load_balance_hosts/,
		'postgresql://u:hunter2@h/d?target_session_attrs=standby': /target_session_attrs=standby: supported are any, read-write, primary/,
		'postgresql://u:hunter2@h/d?sslmode=prefer': /sslmode=prefer: supported are disable, require, verify-ca, verify-full/,
		'postgresql://u:hunter2@h/d?sslmode=verify-full&sslrootcert=/nowhere': /sslrootcert=\/nowhere, which cannot be read: ENOENT/,
		'postgresql://u:hunter2@h/d?sslmode=verify-ca&sslrootcert=system': /sslrootcert=system, which needs sslmode=verify-full/,
		'postgresql://u:hunter2@h,%2Ftmp/d?sslmode=require': /a unix socket beside other hosts/,
		'postgresql://u:hunter2@one,two/d?port=1,2,3': /2 hosts and 3 ports/,
		'postgresql://u:hunter2@h/d?connect_timeout=soon': /connect_timeout/,
		'postgresql://u:hunter2@h:0/d': /host or port/,
		'postgresql://u:hunter2@h:65536/d': /host or port/,
		'postgresql://u:x@hunter2@h/d': /must be a URL|host or port/,
		'postgresql://u:x?hunter2@h/d': /a parameter that is not valid|host or port/,
		'postgresql://u:x/hunter2@h/d': /must be a URL/,
		'postgresql://u:hunter2%ZZ@h/d': /percent-encode/,
		'mysql://u:hunter2@h/d': /must be a URL/,
	})) {
		assert.throws(() => checkDatabaseUrl(url), (error) => {
			assert.ok(error instanceof TypeError, url);
			assert.match(error.message, message, url);
			assert.match(error.message, /^databaseUrl /);
			assert.doesNotMatch(error.stack, /hunter2/);
			return true;
		});
	}
});

test('sslmode means what it means to libpq', (t) => {
	const folder = scratchFolder(t);
	const file = (name) => join(folder, name);
	execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=root',
		'-keyout', file('key'), '-out', file('root.crt')], { stdio: 'ignore' });
	writeFileSync(file('empty'), '');
	setEnv(t, { HOME: folder });
	const ssl = (query, hosts = 'db.example') => checkDatabaseUrl(`postgresql://${hosts}/d?${query}`).ssl;
	const checks = ({ rejectUnauthorized, checkServerIdentity, ca }) => [
		rejectUnauthorized, checkServerIdentity('other.example', { subject: { CN: 'db.example' } }) !== undefined, ca !== undefined];
	const root = `sslrootcert=${file('root.crt')}`;
	assert.equal(ssl(''), false);
	assert.equal(ssl('sslmode=disable'), false);
	assert.equal(ssl(`sslmode=verify-full&${root}`, '%2Ftmp'), false, 'a unix socket needs none');
	assert.deepEqual(checks(ssl('sslmode=require')), [false, false, false]);
	assert.deepEqual(checks(ssl('ssl=true')), [false, false, false]);
	assert.deepEqual(checks(ssl(`sslmode=require&${root}`)), [true, false, true]);
	assert.deepEqual(checks(ssl(`sslmode=verify-ca&${root}`)), [true, false, true]);
	assert.deepEqual(checks(ssl(`sslmode=verify-full&${root}`)), [true, true, true]);
	assert.deepEqual(checks(ssl('sslmode=verify-full&sslrootcert=system')), [true, true, false]);
	assert.throws(() => ssl('sslmode=verify-full'), /there is no root certificate/);
	setEnv(t, { PGSSLMODE: 'verify-full', PGSSLROOTCERT: file('root.crt') });
	assert.deepEqual(checks(ssl('')), [true, true, true]);
});
