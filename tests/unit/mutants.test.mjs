// The named mistakes of `make mutants` are about the code as it is.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { EQUIVALENT } from '../mutants/equivalent.mjs';
import { NAMED } from '../mutants/named.mjs';
import { mistakesIn, placeOf } from '../mutants/operators.mjs';
import { languageOf, read, ROOT, testsOf } from '../mutants/tests.mjs';

test('the text that each named mistake changes is once in its file', () => {
	assert.deepEqual(NAMED.filter(({ file, before }) => read(file).split(before).length !== 2).map(({ what }) => what), []);
});

test('the tests of each named mistake are there', () => {
	const tests = NAMED.flatMap(({ file, tests: own }) => own ?? testsOf(file));
	assert.deepEqual([...new Set(tests)].filter((file) => !existsSync(join(ROOT, file))), []);
});

test('each mistake that changes nothing can be made, and says why', () => {
	const places = ({ file, line, before }) => mistakesIn(read(file), languageOf(file)).filter((mistake) => (
		placeOf(read(file), mistake).shown === line && (before ?? mistake.before) === mistake.before));
	assert.deepEqual(EQUIVALENT.filter((each) => places(each).length !== 1 || !each.why), []);
});
