// SPDX-License-Identifier: MIT
// The documents agree with the code: reason codes, SQL functions, configuration keys, metrics,
// modules; and their links exist.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { namesOf } from '../../lib/node/src/commands/migrations.js';
import { TABLES, readDocument, withTables } from '../support/provider-tables.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROTOCOL = 'lib/PROTOCOL.md';
const CONFIGURATION = 'nginx/CONFIGURATION.md';

const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');

/** The files under a folder with this ending, but for what was built or installed. */
function list(folder, ending) {
	return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
		const file = path.join(folder, entry.name);
		if (entry.isDirectory()) return /^(node_modules|build|\..*)$/.test(entry.name) ? [] : list(file, ending);
		return file.endsWith(ending) ? [file] : [];
	}).sort();
}

const readAll = (folder, ending) => list(folder, ending).map(read).join('\n');
const sorted = (names) => [...new Set(names)].sort();

/** What stands under a heading, up to the next one of its level or above. */
function section(file, heading) {
	const text = read(file);
	const [start] = new RegExp(`^#+ ${heading}$`, 'm').exec(text) ?? assert.fail(`${file} has no heading ${heading}`);
	const rest = text.slice(text.indexOf(start) + start.length);
	const end = rest.search(new RegExp(`^#{1,${start.indexOf(' ')}} `, 'm'));
	return end < 0 ? rest : rest.slice(0, end);
}

/** The code in the first column of a section's tables. */
const firstColumn = (file, heading) => [...section(file, heading).matchAll(/^\| `([^`]+)` \|/gm)].map(([, code]) => code);

/** Each function of a schema that a role may execute, as `name(parameters)`. */
const grantedFunctions = (role, of) => JSON.parse(read('lib/contract/functions.json')).filter(({ roles, schema }) => schema === of && roles.includes(role))
	.map(({ name, parameters, rows, columns = [] }) => `${name}(${[
		...parameters.map((each) => `${each.name} ${each.type}${'default' in each ? ` DEFAULT ${each.default}` : ''}`),
		...columns.filter(() => !rows).map((each) => `OUT ${each.name} ${each.type}`),
	].join(', ')})`);

for (const [role, schema, heading] of [
	...['urlmode_cgi', 'urlmode_server', 'urlmode_operator'].map((name) => [name, 'urlmode', `Role ${name}`]),
	['urlmode_server', 'urlmode_frameworks', 'Schema urlmode_frameworks'],
]) {
	test(`the protocol has the SQL functions of ${schema} that ${role} may execute, with their parameters`, () => {
		const granted = grantedFunctions(role, schema);

		assert.ok(granted.length > 0);
		assert.deepEqual(sorted(firstColumn(PROTOCOL, heading)), sorted(granted));
	});
}

/** The headings under which the keys of the configuration are. */
const CONFIGURATION_TABLES = ['The file', "A provider's entry", 'The OpenID provider', 'The pages', 'The api', 'The console'];

test('the reference has the keys of the configuration, and no others', () => {
	const keys = [...readAll('lib/config', '.c').matchAll(/\bkeys\[\] = \{([^}]*)\}/g)]
		.flatMap(([, strings]) => [...strings.matchAll(/"(\w+)"/g)].map(([, key]) => key));

	assert.ok(keys.includes('base_url') && keys.includes('display_name'));
	assert.deepEqual(sorted(CONFIGURATION_TABLES.flatMap((heading) => firstColumn(CONFIGURATION, heading))),
		sorted(keys));
});

const codeOfThePrograms = () => ['.c', '.h'].flatMap((ending) => list('lib', ending)).filter((file) => !/^lib\/operate\//.test(file)).map(read).join('\n');

test('the reference has the environment variables and the options of the programs, and no others', () => {
	const names = [...codeOfThePrograms().matchAll(/"(URLMODE_[A-Z_]+|--[a-z]+)"/g)].map(([, name]) => name);
	const rows = firstColumn(CONFIGURATION, 'Command line, environment and signals');

	assert.ok(names.includes('URLMODE_CONFIG') && names.includes('--check'));
	assert.deepEqual(sorted(rows.flatMap((cell) => cell.match(/URLMODE_[A-Z_]+|--[a-z]+/g) ?? [])), sorted(names));
});

test('the manual pages are made of the reference, and have its keys, options, variables and signals', () => {
	const entries = (name) => [...execFileSync('awk', ['-f', 'nginx/man/page.awk', `nginx/man/${name}.in`], { cwd: ROOT, encoding: 'utf8' })
		.matchAll(/^\.It (.*)$/gm)].map(([, text]) => text.replaceAll('\\', ''));
	const rows = section(CONFIGURATION, 'Command line, environment and signals').match(/^\| (?:`[A-Z]+_[A-Z_]+`|`PROGRAM --|SIG)[^|]*/gm);
	const plain = (row) => row.slice(2).replaceAll(/`|PROGRAM /g, '').trim();

	assert.deepEqual(entries('urlmode-config.5'), CONFIGURATION_TABLES.flatMap((heading) => firstColumn(CONFIGURATION, heading)));
	assert.deepEqual(sorted(entries('urlmode-programs.8').filter((entry) => !/^(Nm|Pa) /.test(entry))), sorted(rows.map(plain)));
});

test('the reference has the signals of the programs, and no others', () => {
	const signals = [...read('lib/server/loop.c').matchAll(/\bsigaddset\(set, (\w+)\)/g)].map(([, name]) => name);
	const words = (text) => sorted(text.match(/\bSIG[A-Z0-9]+\b/g));
	const rows = section(CONFIGURATION, 'Command line, environment and signals').match(/^\| SIG[^|]*/gm);

	assert.deepEqual(words(rows.join()), sorted(signals));
});

test('production: each login gets its password, and no example lets multiwatch give a program up', () => {
	const production = section('nginx/README.md', 'By hand');
	const logins = [...read('sql/tables/001_schema.sql').matchAll(/^\t+\('(\w+)', true,$/gm)].map(([, role]) => namesOf({ prefix: 'urlmode', owner: '' })[role]);
	assert.ok(logins.length >= 3);
	assert.deepEqual([...production.matchAll(/-c '\\password (\w+)'/g)].map(([, role]) => role), logins);
	assert.match(production, /createdb urlmode[^]*sql\/migrate/);

	const [limits] = /-t \d+ -r \d+/.exec(read('tests/stack/lib.sh'));
	const files = [...list('nginx', '.md'), 'nginx/examples/start-without-systemd'];
	const starts = files.flatMap((file) => read(file).match(/multiwatch -f .*/g) ?? []);
	assert.ok(starts.length >= 3);
	for (const start of starts) assert.ok(start.includes(limits), start);
});

test('the start without systemd is what the document shows', () => {
	const block = /^    install -d[^]*?^    done$/m.exec(section('nginx/README.md', 'Without systemd'))[0];
	const script = read('nginx/examples/start-without-systemd');
	// The api follows, where it is set up.
	const programs = script.slice(script.indexOf('\ninstall -d') + 1).split(/\n\n# The api/)[0];
	assert.equal(block.replaceAll(/^    /gm, ''), programs.trimEnd().replaceAll('\t', '    '));
});

test('the reference has the metrics, with their types and labels, and no others', () => {
	const metrics = [...read('lib/server/metrics_page.h').matchAll(/^\tX\((\w+), (\w+), "([^"]*)",/gm)];
	const rows = [...section(CONFIGURATION, 'Metrics').matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm)];

	assert.ok(metrics.length > 10);
	assert.deepEqual(rows.map(([, name, type, labels]) => [name, type, labels === 'none' ? '' : labels.replaceAll('`', '')]),
		metrics.map(([, name, type, labels]) => [`urlmode_${name}`, type, labels]));
});

test('the reference has the place of the counters, which is in the folder that the unit makes', () => {
	const [, file] = /#define UM_METRICS_FILE "(.*)"/.exec(read('lib/server/metrics.h'));

	assert.ok(section(CONFIGURATION, 'The file').includes(`\`${file}\``));
	assert.match(read('nginx/systemd/urlmode@.service'), new RegExp(`^RuntimeDirectory=${path.dirname(file).replace('/run/', '')}$`, 'm'));
});

test('the reference has the statuses that are counted', () => {
	const [, rows] = /#define UM_METRICS_STATUSES\(X\)([^]*?)\n\n/.exec(read('lib/server/metrics_file.h'));
	const statuses = [...rows.matchAll(/X\((\d+)\)/g)].map(([, status]) => status);

	assert.ok(section(CONFIGURATION, 'Metrics').includes(`\`status\` is ${statuses.join(', ')} or \`other\``));
});

test('the protocol has the fields of the log, and no others', () => {
	const names = [...read('lib/server/log.c').matchAll(/um_json_put_(?:member|key)\([^"]*?"(\w+)"/g)].map(([, name]) => name);

	assert.ok(names.includes('time') && names.includes('ms'));
	assert.deepEqual(sorted(firstColumn(PROTOCOL, 'The log')), sorted(names));
});

test('the protocol has the programs that write the log, and no others', () => {
	const [, programs] = /^\| `program` \| (.*) \|$/m.exec(section(PROTOCOL, 'The log'));

	assert.deepEqual(programs.match(/[\w-]+/g), list('cgi-bin', '.c').map((file) => path.basename(file, '.c')));
});

test('the protocol has the members of create over HTTP, and no others', () => {
	const read = ['create', 'create_form', 'create_request'].flatMap((name) => [...readAll('lib/api', `/${name}.c`).matchAll(/um_reader_(?!refuse)\w+\([^;"]*?"(\w+)"/g)])
		.map(([, name]) => name);
	const [, members] = /^\| `create` \| (.*?) \| 201/m.exec(section(PROTOCOL, 'Over HTTP'));

	assert.deepEqual(sorted([...members.matchAll(/`(\w+)\??`/g)].map(([, name]) => name)), sorted([...read, 'subject', 'session']));
});

test('examples of the api ask where it listens', () => {
	const [, port] = /listen 127\.0\.0\.1:(\d+)/.exec(read('nginx/urlmode-api.conf')) ?? assert.fail('nginx/urlmode-api.conf does not listen on loopback');

	for (const file of ['lib/node/HTTP.md', 'lib/node/src/http/urlmode.js', 'nginx/API.md']) {
		for (const [, other] of read(file).matchAll(/127\.0\.0\.1:(\d+)/g)) assert.equal(other, port, file);
	}
});

test('the first lines of a file say what it is', () => {
	for (const file of list('lib', '.h')) assert.match(read(file).split('\n')[1], /^\/\*/, file);
	for (const file of list('lib/node/src', '.js')) assert.match(read(file), /^(\/[/*]|export \{)/, file);
	for (const file of list('lib/python/src', '.py').filter((each) => read(each) !== '')) assert.match(read(file), /^"""/, file);
});

test('the map is a page, whose rooms and layers are the folders that are there', () => {
	const map = read('lib/README.md');
	const rooms = [...map.matchAll(/`((?:node\/src|python\/src\/urlmode)\/\w+\/)`/g)].map(([, room]) => room);
	const folders = ['node/src', 'python/src/urlmode'].flatMap((place) => readdirSync(path.join(ROOT, 'lib', place), { withFileTypes: true })
		.filter((entry) => entry.isDirectory() && !entry.name.startsWith('__')).map(({ name }) => `${place}/${name}/`));

	assert.ok(map.split('\n').length < 160);
	assert.deepEqual(sorted(rooms), sorted(folders));
});

test('what the map answers to newcomers is there', () => {
	for (const row of section('lib/README.md', 'Questions that newcomers ask').match(/^\| [A-Z].*\?.*\|$/gm)) {
		const names = [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
		const files = [...row.matchAll(/`([^`]+\.\w+)`|\]\(([^)]+)\)/g)].map(([, name, link]) => name ?? link)
			.flatMap((name) => [`lib/${name}`, name.replace('../', ''), `sql/functions/${name}`].filter((file) => existsSync(path.join(ROOT, file))));
		const text = files.map(read).join('\n');

		assert.ok(files.length >= 2, row);
		for (const name of names.filter((each) => !/[./]/.test(each))) assert.ok(text.includes(name), `${name}: ${row}`);
	}
});

test('a test in C has the name of the module, layer or program that it tests', () => {
	const names = [
		...list('lib', '.h').flatMap((file) => [path.basename(file, '.h'), path.basename(path.dirname(file))]),
		...readdirSync(path.join(ROOT, 'cgi-bin')).map((file) => path.basename(file, '.c').replace('-', '_')),
	];
	const others = [...list('tests/unit', '.c'), ...list('tests/fuzz', '.c')]
		.map((file) => /^(?:test|fuzz)_(\w+)\.c$/.exec(path.basename(file))?.[1])
		.filter((name) => name && !names.some((module) => name === module || name.startsWith(`${module}_`)));

	assert.deepEqual(others, ['wipe']);
});

test('the tables of providers are those that the descriptions make', () => {
	for (const document of Object.keys(TABLES))
		assert.equal(readDocument(document), withTables(document), 'make contract writes them');
});

const PACKAGE = JSON.parse(read('lib/node/package.json'));

test('the README of the package has its modules, each with an example that imports it', () => {
	const modules = Object.keys(PACKAGE.exports).filter((name) => /^\.\/[a-z0-9-]+$/.test(name)).map((name) => name.replace('.', 'urlmode'));
	const rows = section('lib/node/README.md', 'With an MCP framework').split('\n').filter((line) => /^\| `urlmode/.test(line));

	assert.deepEqual(sorted(rows.map((row) => row.split('`')[1])), sorted(modules));
	for (const row of rows) {
		for (const [, file] of row.matchAll(/\((examples\/[^)]+)\)/g)) {
			assert.match(read(`lib/node/${file}`), new RegExp(`from '${row.split('`')[1]}'`), file);
		}
	}
});

test('the reference of the package has the exported errors with their codes, and no others', () => {
	const exported = /export \{([^}]*)\} from '.\/core\/errors.js'/.exec(read('lib/node/src/index.js'))[1].match(/\w+/g);
	const codes = new Map(JSON.parse(read('lib/contract/codes.json')).errors.map((error) => [error.class, error.code]));
	const rows = [...section('lib/node/REFERENCE.md', 'Errors').matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm)].map(([, name, code]) => `${name} ${code}`);

	assert.deepEqual(sorted(rows), sorted(exported.filter((name) => name !== 'UrlModeError').map((name) => `${name} ${codes.get(name)}`)));
});

for (const [heading, types] of [
	['new UrlMode\\(options\\)', ['UrlModeOptions']],
	['create\\(options\\)', ['CreateFields', 'TargetFields', 'OAuthFields', 'PaymentFields', 'InputFields', 'ApprovalFields', 'OthersFields', 'Owner']],
	['waitForCompletion\\(id, options\\)', ['WaitFields', 'Owner']],
]) {
	test(`the reference of the package has the options of ${heading.replaceAll('\\', '')}, and no others`, () => {
		const text = read('lib/node/src/core/types.js');
		const options = types.flatMap((type) => {
			const [, fields] = new RegExp(`@typedef \\{object\\} ${type}\\b([^]*?)(?=\\n \\*\\s*\\n|@typedef|\\*/)`).exec(text);
			return [...fields.matchAll(/@property \{.*\} \[?(\w+)/g)].map(([, name]) => name);
		});
		const cells = [...section('lib/node/REFERENCE.md', heading).matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)];

		assert.deepEqual(sorted(cells.flatMap(([, cell]) => cell.match(/\w+/g))), sorted([...new Set(options)]));
	});
}

test('README.md is read in five minutes: it has less than 180 lines', () => {
	assert.ok(read('README.md').trimEnd().split('\n').length < 180);
});

test('the files that comments name exist', () => {
	const sources = ['cgi-bin', 'lib', 'nginx', 'sql', 'tests'].flatMap((folder) => ['.c', '.h', '.js', '.mjs', '.sql', '.conf', '.pml']
		.flatMap((ending) => list(folder, ending)));
	const missing = sources.flatMap((file) => [...read(file).matchAll(/(?<![\w./-])(?:cgi-bin|lib|nginx|sql|tests)\/[\w./-]+\.(?:c|h|m?js|sql|md|json|conf|pml)\b(?!\.)/g)]
		.map(([name]) => name).filter((name) => !/\bNAME\b/.test(name) && !existsSync(path.join(ROOT, name))).map((name) => `${file}: ${name}`));

	assert.deepEqual(missing, []);
});

/** The anchor that a heading has on a page. */
const anchor = (heading) => heading.toLowerCase().trim().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');

test('the chart has the rules of the alerts', () => {
	assert.equal(read('nginx/containers/chart/files/alerts.yml'), read('nginx/monitoring/alerts.yml'));
});

test('each alert has its heading in the runbook, and links it', () => {
	const runbook = 'nginx/monitoring/RUNBOOK.md';
	const alerts = [...read('nginx/monitoring/alerts.yml').matchAll(/^ +- alert: (\w+)$[^]*?^ +runbook_url: (.*)$/gm)];

	assert.deepEqual(sorted([...read(runbook).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)), sorted(alerts.map(([, name]) => name)));
	for (const [whole, name, url] of alerts) {
		assert.equal(whole.match(/- alert: /g).length, 1, name);
		assert.equal(url, `${runbook}#${anchor(name)}`);
	}
});

for (const file of list('.', '.md')) {
	test(`the links of ${file} lead somewhere`, () => {
		const text = read(file).replaceAll(/^```[^]*?^```/gm, '');
		for (const [, link] of text.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)) {
			const [target, fragment] = link.split('#');
			const place = path.join(path.dirname(file), target);
			const page = target === '' ? file : place;
			assert.ok(existsSync(path.join(ROOT, page)), `${link} is no file`);
			if (fragment !== undefined) {
				const anchors = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading));
				assert.ok(anchors.includes(fragment), `${link} is no heading`);
			}
		}
	});

	// The results of a day name the files of that day.
	if (file.includes('/results/')) continue;
	test(`the files that ${file} names exist`, () => {
		for (const [, name] of read(file).matchAll(/`((?![^`]*\bNAME\b)(?:\.\.\/|[a-z-]+\/)[\w./@-]*\w\.(?:[ch]|m?js|md|sql|conf|json|py))`/g)) {
			const places = [path.join(path.dirname(file), name), name];
			assert.ok(places.some((place) => existsSync(path.join(ROOT, place))), `${name} does not exist`);
		}
	});
}

test('no document takes a package from a registry, where anybody may have the name', () => {
	const taken = /\b(npm (i|install|add)|pip install|pip3 install|uv add|pnpm add|yarn add) (-\S+ )*['"]?urlmode['"@[\s]|npm create urlmode/;
	for (const file of [...list('.', '.md'), ...list('lib/node/src', '.js'), ...list('lib/python/src', '.py')]) {
		const lines = read(file).split('\n').filter((line) => taken.test(line) && !/ @ |file:/.test(line));
		assert.deepEqual(lines, [], file);
	}
	const [, get] = /^## Get it\n([^]*?)^## /m.exec(read('README.md'));
	assert.ok(read('README.md').indexOf(get) < 2_500, 'it is on the first screen');
	assert.match(get, /No registry has a package of urlmode yet[^]*`make dist`/);
});

test('whoever reports a security problem is told that a placeholder is one', () => {
	const names = Object.fromEntries([...read('nginx/dist/names').matchAll(/^([a-z]+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
	assert.deepEqual(Object.keys(names), ['npm', 'python', 'go', 'image', 'repository', 'security']);
	const report = section('nginx/SECURITY.md', 'Report a problem');
	assert.ok(report.includes(`\`${names.security}\``) || report.includes(`<${names.security}>`));
	assert.equal(/\*\*There is no address yet\.\*\*/.test(report), names.security.endsWith('.invalid'));
	assert.match(read('lib/go/go.mod'), new RegExp(`^module ${names.go}$`, 'm'));
	for (const file of ['README.md', 'nginx/dist/README.md']) assert.match(read(file), new RegExp(`pip install ['"]${names.python}\\[`), file);
});

test('SECURITY corrects a version for as long as the guide to upgrades says', () => {
	const rows = section('nginx/SECURITY.md', 'Which versions are supported');
	const [, words] = /says how long each version is corrected: ([^.]*)\./.exec(section('nginx/UPGRADING.md', 'What is stable').replaceAll(/\s+/g, ' '));
	const [, which, time] = /^the (last minor version) of a MAJOR (for a year) after the next MAJOR$/.exec(words);
	assert.match(rows, new RegExp(`^\\| the ${which} of the MAJOR before \\| ${time} after the next MAJOR \\|$`, 'm'));
	assert.doesNotMatch(rows, /\d/, 'a version would be that of today');
});

test('no program that was built is among the sources', () => {
	const isProgram = (file) => readFileSync(path.join(ROOT, file)).subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1'));
	assert.deepEqual(['cgi-bin', 'lib', 'nginx', 'sql', 'tests'].flatMap((folder) => list(folder, '')).filter(isProgram), []);
});

test('the changelog of the first release is read in a minute, and counts what there is', () => {
	const entry = read('nginx/debian/changelog').split('\nurlmode (').at(-1);
	const counts = { descriptions: readdirSync(path.join(ROOT, 'lib/providers')).filter((file) => /^(?!schema).*\.json$/.test(file)).length,
		alerts: read('nginx/monitoring/alerts.yml').match(/- alert: /g).length };
	for (const [what, count] of Object.entries(counts)) assert.match(entry.replaceAll(/\s+/g, ' '), new RegExp(` ${count} ${what}\\b`));
	assert.match(entry, /\bpages in ten languages\b/);
	assert.equal(readdirSync(path.join(ROOT, 'lib/pages')).filter((file) => file.endsWith('.json')).length, 10);
	const words = entry.split(/\s+/).length;
	assert.ok(words < 250, `${words} words`);
});
