// SPDX-License-Identifier: MIT
// Each parameter of a function that the package for Node exports, and each member of its options, has a text that an editor shows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../../lib/node/', import.meta.url));
const ts = createRequire(path.join(PACKAGE, 'package.json'))('typescript');

/** The last program, whose files are parsed and bound already. */
let before;

/** The names of those without a text, and how many there are; `texts` are files in the place of others. */
function undocumented(texts = {}) {
	const { exports } = JSON.parse(readFileSync(path.join(PACKAGE, 'package.json'), 'utf8'));
	const entries = Object.values(exports).flatMap((each) => (each.default ? [path.join(PACKAGE, each.default)] : []));
	const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(path.join(PACKAGE, 'tsconfig.json'), ts.sys.readFile).config, ts.sys, PACKAGE);
	const host = ts.createCompilerHost(options);
	const parse = host.getSourceFile;
	host.getSourceFile = (file, target) => {
		const text = texts[path.relative(PACKAGE, file)];
		return text ? ts.createSourceFile(file, text, target, true) : before?.getSourceFile(file) ?? parse(file, target);
	};
	const program = ts.createProgram(entries, options, host, before);
	before = program;
	const checker = program.getTypeChecker();

	const isOwn = (of) => of?.getSourceFile().fileName.startsWith(path.join(PACKAGE, 'src/'));
	const hasText = (symbol) => symbol.getDocumentationComment(checker).length > 0;
	const isClass = (type) => Boolean(type.symbol && type.symbol.flags & ts.SymbolFlags.Class);
	const parts = (type) => (type.isUnionOrIntersection() ? type.types.flatMap(parts) : [type]);
	const membersOf = (type) => parts(type).filter((each) => each.flags & ts.TypeFlags.Object && !isClass(each) && !checker.isArrayType(each) && each.getCallSignatures().length === 0)
		.flatMap((each) => each.getProperties())
		.filter((each) => each.declarations?.some(isOwn) && !(checker.getTypeOfSymbol(each).flags & ts.TypeFlags.Undefined));
	// A function is described by what it is given, where that has a name.
	const isDescribed = ([call]) => call?.parameters.every((each) => {
		const { aliasSymbol } = checker.getTypeOfSymbol(each);
		return aliasSymbol && hasText(aliasSymbol);
	});
	const missing = new Set();
	const seen = new Set();

	function look(symbol, name) {
		const type = checker.getTypeOfSymbol(symbol);
		const members = membersOf(type);
		if (seen.has(symbol)) return;
		seen.add(symbol);
		if (hasText(symbol) || isDescribed(type.getCallSignatures())) return;
		if (members.length === 0) missing.add(name);
		for (const member of members) look(member, `${name}.${member.name}`);
	}

	function ofFunction(type, name) {
		for (const { parameters, declaration } of [...type.getCallSignatures(), ...type.getConstructSignatures()])
			if (isOwn(declaration)) for (const each of parameters) look(each, `${name}(${each.name})`);
	}

	for (const entry of entries) {
		for (const exported of checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)))) {
			const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
			// Errors are caught, and not made.
			const declared = checker.getDeclaredTypeOfSymbol(symbol);
			if (!(symbol.flags & ts.SymbolFlags.Value) || !isOwn(symbol.declarations?.[0]) || declared.getProperty?.('stack')) continue;
			const name = `${path.relative(path.join(PACKAGE, 'src'), entry)}: ${symbol.name}`;
			ofFunction(checker.getTypeOfSymbol(symbol), name);
			// What implements the interface of a framework is called by the framework.
			if (!(symbol.flags & ts.SymbolFlags.Class) || entry.includes('/frameworks/')) continue;
			for (const member of declared.getProperties()) {
				const isPrivate = member.valueDeclaration?.name && ts.isPrivateIdentifier(member.valueDeclaration.name);
				if (member.declarations?.some(isOwn) && !isPrivate) ofFunction(checker.getTypeOfSymbol(member), `${name}.${member.name}`);
			}
		}
	}
	return { missing: [...missing].sort(), seen: seen.size };
}

test('each parameter of a public function has a text', () => {
	const { missing, seen } = undocumented();
	assert.deepEqual(missing, []);
	assert.ok(seen > 200, `only ${seen} are found`);
});

test('one without a text is found', () => {
	const file = 'src/core/urlmode.js';
	const text = readFileSync(path.join(PACKAGE, file), 'utf8');
	const { missing } = undocumented({ [file]: text.replace('@param {Owner & Answer} options whose it is, and the outcome', '@param {Owner & { colour: string }} options') });
	assert.deepEqual(missing, ['index.js: UrlMode.complete(options).colour', 'testing.js: ScriptedUrlMode.complete(options).colour'].slice(0, missing.length));
	assert.ok(missing.length > 0);
});
