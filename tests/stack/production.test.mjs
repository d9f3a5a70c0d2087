// nginx/urlmode.conf, the production server, with other names of files, ports and another
// certificate. No programs run behind it.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { ROOT, fetchRaw, freePorts, scratch, until } from './harness.mjs';

const NAME = 'callback.example.com';
const ENV = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

/** What the comment in the file says of newer versions. */
function http2() {
	const [, minor, patch] = /nginx\/1\.(\d+)\.(\d+)/.exec(spawnSync('nginx', ['-v'], { env: ENV, encoding: 'utf8' }).stderr).map(Number);
	return minor > 25 || (minor === 25 && patch >= 1) ? [/(\tlisten 443 ssl) http2;/g, '$1;\n\thttp2 on;'] : ['', ''];
}

let nginx;
let httpPort;
let httpsPort;

before(async () => {
	const folder = await scratch('production');
	const place = (text) => text
		.replaceAll(/^\tlisten \[::\].*\n/gm, '')
		.replace(...http2())
		.replaceAll('listen 443 ', `listen 127.0.0.1:${httpsPort} `)
		.replace('listen 80;', `listen 127.0.0.1:${httpPort};`)
		.replaceAll(/\/etc\/letsencrypt\/live\/[^/]+\//g, '')
		.replaceAll('/var/log/nginx/', '');

	[httpPort, httpsPort] = await freePorts(2);
	execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
		'-subj', `/CN=${NAME}`, '-keyout', 'privkey.pem', '-out', 'fullchain.pem'], { cwd: folder, stdio: 'ignore' });
	await symlink(path.join(ROOT, 'nginx/urlmode'), path.join(folder, 'urlmode'));
	await writeFile(path.join(folder, 'site.conf'), place(await readFile(path.join(ROOT, 'nginx/urlmode.conf'), 'utf8')));
	await Promise.all(['body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => mkdir(path.join(folder, name))));
	await writeFile(path.join(folder, 'nginx.conf'), `
		daemon off;
		pid nginx.pid;
		error_log error.log notice;
		events {}
		http {
			client_body_temp_path body;
			proxy_temp_path proxy;
			fastcgi_temp_path fastcgi;
			uwsgi_temp_path uwsgi;
			scgi_temp_path scgi;
			include site.conf;
		}
	`);
	const options = ['-e', path.join(folder, 'error.log'), '-p', `${folder}/`, '-c', path.join(folder, 'nginx.conf')];
	const { stderr } = spawnSync('nginx', ['-t', ...options], { env: ENV, encoding: 'utf8' });
	assert.match(stderr, /test is successful/);
	assert.doesNotMatch(stderr, /\[warn\].*http2/);
	nginx = spawn('nginx', options, { env: ENV, stdio: 'inherit' });
	await until(() => fetchRaw(`http://127.0.0.1:${httpPort}/`));
});

after(async () => {
	if (!nginx) {
		return;
	}
	nginx.kill('SIGTERM');
	await once(nginx, 'exit');
});

function fetchTls(target) {
	return new Promise((resolve, reject) => {
		request({
			host: '127.0.0.1', port: httpsPort, path: target, servername: NAME, headers: { Host: NAME },
			rejectUnauthorized: false,
		}, (response) => {
			const protocol = response.socket.getProtocol();
			response.resume().on('end', () => {
				resolve({ status: response.statusCode, headers: response.headers, protocol });
			});
		}).on('error', reject).end();
	});
}

test('TLS, with HSTS on every page', async () => {
	for (const [target, status] of [['/nope', 404], ['/connect/demo', 502], ['/done', 502]]) {
		const answer = await fetchTls(target);
		assert.equal(answer.status, status);
		assert.equal(answer.headers['strict-transport-security'], 'max-age=63072000');
		assert.equal(answer.headers['referrer-policy'], 'no-referrer');
		assert.equal(answer.protocol, 'TLSv1.3');
	}
});

/** What comes of a connection that asks for this name in TLS, and for that host in the request. */
function asks(servername, host = NAME) {
	return new Promise((resolve) => {
		const socket = connectTls({ host: '127.0.0.1', port: httpsPort, servername, rejectUnauthorized: false }, () => {
			socket.write(`GET /done HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
		});
		let text = '';
		socket.setEncoding('utf8').on('data', (chunk) => {
			text += chunk;
		}).on('close', () => resolve(/^HTTP\S+ (\d+)|$/.exec(text)[1] ?? 'closed')).on('error', ({ reason, code }) => resolve(reason ?? code));
	});
}

test('who asks for another name, or for none, gets no certificate and no page', async () => {
	assert.equal(await asks(NAME), '502');
	assert.match(await asks('other.example.com'), /unrecognized name$/);
	assert.match(await asks(''), /unrecognized name$/);
	assert.equal(await asks(NAME, 'other.example.com'), 'closed');
});

test('HTTP only leads to HTTPS', async () => {
	const answer = await fetchRaw(`http://127.0.0.1:${httpPort}/connect/demo?state=x`);
	assert.equal(answer.status, 308);
	assert.equal(answer.headers.location, `https://${NAME}/connect/demo?state=x`);
	assert.equal(answer.headers['strict-transport-security'], undefined);
});

/** A request over HTTP/2, with these Cookie fields. Browsers send each cookie in a field of its own (RFC 9113 section 8.2.3). */
async function fetchHttp2(cookies) {
	const session = connect(`https://127.0.0.1:${httpsPort}`, { rejectUnauthorized: false, servername: NAME });
	try {
		const stream = session.request({ ':path': '/connect/demo', ':authority': NAME, cookie: cookies });
		let text = '';
		stream.setEncoding('utf8').on('data', (chunk) => {
			text += chunk;
		});
		const [headers] = await once(stream, 'response');
		await once(stream, 'end');
		return { status: headers[':status'], title: /<h1>(.*)<\/h1>/.exec(text)?.[1] };
	} finally {
		session.destroy();
	}
}

// nginx takes 48 KB of them here, and closes a connection with more; over HTTP/1.1 a page says that there are too many (nginx.test.mjs).
test('over HTTP/2, 48 KB of cookies of other applications are taken', async () => {
	const cookies = (count) => Array.from({ length: count }, (_, n) => `other-${String(n).padStart(3, '0')}=${'v'.repeat(1_000)}`);
	const taken = { status: 502, title: 'One moment, please' };
	for (const sent of [cookies(20), cookies(32), cookies(48), [`other=${'v'.repeat(23_000)}`]]) {
		assert.deepEqual(await fetchHttp2(sent), taken, 'no program is behind it');
	}
});
