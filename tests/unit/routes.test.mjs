// SPDX-License-Identifier: MIT
// The routes of the programs in cgi-bin/ are those of nginx, of the other web servers, and of PROTOCOL.md.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { constant, constantOf, found } from '../support/constants.mjs';

const KB = 1_024;

const read = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** A member of an entry of the table, as it stands there. */
const member = (entry, name) => new RegExp(`\\.${name} = (?:"([^"]*)"|([^,]*))(?:,| \\}|$)`, 's').exec(entry)?.slice(1).find((value) => value !== undefined);

/** The number of a member: a literal, or a constant of lib/ or of the program. */
function number(file, name) {
	if (name === undefined) return 0;
	const product = /^(\d+) \* (\w+)( \* \w+)?$/.exec(name);
	if (product) return product[1] * KB ** (product[3] ? 2 : 1);
	return name.startsWith('UM_') ? constant(name) : constantOf(file, name);
}

/** The text of a member: a literal, or a constant. */
function text(file, entry, name) {
	const value = member(entry, name);
	if (value === 'ROUTE') return found(file, /#define ROUTE "(.*)"/);
	if (value === 'UM_FORM_ROUTE') return found('lib/app/form_session.h', /UM_FORM_ROUTE "(.*)"/);
	return value === 'UM_SIGNIN_ROUTE' ? found('lib/app/signin.h', /UM_SIGNIN_ROUTE "(.*)"/) : value;
}

/** Each entry of the tables `routes`. */
const ALL_ROUTES = readdirSync(new URL('../../cgi-bin/', import.meta.url)).filter((name) => name.endsWith('.c')).flatMap((name) => {
	const file = `cgi-bin/${name}`;
	const table = found(file, /static const struct um_route routes\[\] = \{\n([^]*?)\n\t\{ 0 \},\n\};/);
	return table.split(/^\t(?=\{)/m).filter((entry) => entry.trim() !== '').map((entry) => ({
		program: name.slice(0, -'.c'.length), prefix: text(file, entry, 'prefix'), suffix: text(file, entry, 'suffix'),
		methods: member(entry, 'methods').split(', '), bodyMax: number(file, member(entry, 'body_max')),
	}));
});

/** Those of the callback host. The api has a server of its own. */
const ROUTES = ALL_ROUTES.filter(({ program }) => program !== 'api' && program !== 'console');
const CONSOLE_ROUTES = ALL_ROUTES.filter(({ program }) => program === 'console');
const API_ROUTES = ALL_ROUTES.filter(({ program }) => program === 'api');

/** What a web server knows of a route: all below a prefix, or one path. */
const placeOf = ({ prefix, suffix }) => (suffix === undefined ? `= ${prefix}` : prefix);
const bySorted = (pairs) => [...new Map(pairs)].sort(([a], [b]) => a.localeCompare(b));

const SERVER = read('nginx/urlmode/server.conf');
const LOCATIONS = [...SERVER.matchAll(/^location (.*) \{\n([^]*?)^\}/gm)].map(([, place, body]) => ({
	place, program: /fastcgi_pass urlmode_(\w+);/.exec(body)?.[1].replaceAll('_', '-'), limit: /client_max_body_size (\d+)(k|m);/.exec(body),
})).filter(({ program }) => program !== undefined);

test('every program has routes, and takes a body exactly where it takes POST', () => {
	assert.equal(new Set(ROUTES.map(({ program }) => program)).size, 7);
	for (const route of ALL_ROUTES) assert.equal(route.bodyMax > 0, route.methods.includes('POST'), JSON.stringify(route));
});

test('nginx has the same routes, each with its program', () => {
	assert.deepEqual(bySorted(LOCATIONS.map(({ place, program }) => [place, program])), bySorted(ROUTES.map((route) => [placeOf(route), route.program])));
});

test('nginx has an upstream for each program', () => {
	for (const file of ['nginx/urlmode/upstreams.conf', 'nginx/others/fcgiwrap/upstreams.conf'])
		assert.deepEqual([...read(file).matchAll(/^upstream urlmode_(\w+) \{/gm)].map(([, name]) => name.replaceAll('_', '-')).sort(),
			[...new Set(ROUTES.map(({ program }) => program))], file);
});

test('a body that a program takes passes nginx, and a longer one does not where the limit is a route\'s own', () => {
	const [, everywhere] = /^client_max_body_size (\d+)k;/m.exec(SERVER);
	for (const { place, limit } of LOCATIONS) {
		const most = Math.max(...ROUTES.filter((route) => placeOf(route) === place).map(({ bodyMax }) => bodyMax));
		if (limit) assert.equal(limit[1] * (limit[2] === 'm' ? KB * KB : KB), most, place);
		else assert.ok(most <= everywhere * KB, place);
	}
});

test('the server of the api has its methods, with their bodies, and the callback host has none of them', () => {
	const api = read('nginx/urlmode/api.conf');
	const usual = Number(/^client_max_body_size (\d+)k;/m.exec(api)[1]) * KB;
	const own = new Map([...api.matchAll(/^location = (\S+) \{\n\tclient_max_body_size (\d+)m;/gm)].map(([, place, size]) => [place, size * KB * KB]));
	assert.ok(API_ROUTES.length > 0);
	for (const { prefix, methods, bodyMax } of API_ROUTES) {
		assert.match(prefix, /^\/v1\/[a-z_]+$/);
		assert.deepEqual(methods, ['POST']);
		assert.equal(bodyMax, own.get(prefix) ?? usual, prefix);
	}
	// Each method that the document tells of is there; PROTOCOL.md has the members of each.
	const [, table] = /^## The methods\n([^]*?)^## /m.exec(read('nginx/API.md'));
	const told = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `/v1/${name}`));
	assert.deepEqual([...told].sort(), API_ROUTES.map(({ prefix }) => prefix).sort());
	assert.match(api, /^location \/v1\/ \{\n\tfastcgi_pass urlmode_api;\n\}/m);
	for (const file of ['nginx/urlmode/server.conf', 'nginx/urlmode.conf', ...Object.keys(OTHERS)]) assert.doesNotMatch(read(file), /\/v1\/|urlmode_api|api\.conf|console/, file);
});

test('the console has a server of its own, and the callback host has none of its routes', () => {
	assert.ok(CONSOLE_ROUTES.length > 0);
	for (const { prefix } of CONSOLE_ROUTES) assert.match(prefix, /^\/console\/[a-z]*$/);
	for (const file of ['nginx/urlmode/server.conf', 'nginx/urlmode/upstreams.conf', 'nginx/urlmode.conf', ...Object.keys(OTHERS)]) assert.doesNotMatch(read(file), /\/console\/|urlmode_console/, file);
});

/** Which program another web server asks for a path: `status` has what no other has. */
const OTHERS = {
	'nginx/others/Caddyfile': (file) => [...file.matchAll(/handle (\/[\w/]+?)(\*?) \{\n\t\timport urlmode ([\w-]+) /g)].map(([, path, below, program]) => [below ? path : `= ${path}`, program]),
	'nginx/others/lighttpd.conf': (file) => [...file.matchAll(/"(\/[\w/]+)" => \(\( "socket" => "\/run\/urlmode\/([\w-]+)\.sock"/g)].map(([, path, program]) => [path.endsWith('/') ? path : `= ${path}`, program]),
	'nginx/others/apache/fastcgi.conf': (file) => [...file.matchAll(/ProxyPass "(\/[\w/]+)" "unix:\/run\/urlmode\/([\w-]+)\.sock/g)].map(([, path, program]) => [path.endsWith('/') ? path : `= ${path}`, program]),
	'nginx/others/fcgiwrap/upstreams.conf': (file) => [...file.matchAll(/^\t(~\^)?(\/[\w/]+) ([\w-]+);/gm)].map(([, below, path, program]) => [below ? path : `= ${path}`, program]),
};

for (const [file, programs] of Object.entries(OTHERS)) {
	test(`${file} has the same routes`, () => {
		assert.deepEqual(bySorted(programs(read(file))), bySorted(ROUTES.filter(({ program }) => program !== 'status').map((route) => [placeOf(route), route.program])));
	});
}

test('the protocol has the same routes', () => {
	const [table] = /^\| route \| methods \|[^]*?\n\n/m.exec(read('lib/PROTOCOL.md'));
	const paths = [...table.matchAll(/^\| `(\/[^`?]*)/gm)].map(([, path]) => path);
	assert.deepEqual([...new Set(paths)].sort(), [...new Set(ROUTES.map(({ prefix, suffix }) => (suffix === undefined ? prefix : `${prefix}<provider>${suffix}`)))].sort());
});
