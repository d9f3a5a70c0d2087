// lib/client/um_wait.h is for programs that have no other header of lib/.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = `
	#include "um_wait.h"
	#include "um_wait.h"
	int main(void)
	{
		struct um_wait *wait;
		struct um_wait_error err;
		return um_wait_open(&wait, "", "", "", &err) ? 0 : err.text[0];
	}
`;

for (const [compiler, ...options] of [
	['cc', '-x', 'c', '-std=c11'],
	['clang', '-x', 'c', '-std=c11'],
	['clang', '-x', 'c++', '-std=c++11'],
]) {
	test(`um_wait.h alone is enough: ${compiler} ${options.join(' ')}`, () => {
		const { status, stderr } = spawnSync(compiler, [...options, '-Wall', '-Wextra', '-Wpedantic', '-Werror',
			'-Ilib/client', '-c', '-o', '/dev/null', '-'], { cwd, input: PROGRAM, encoding: 'utf8' });
		assert.equal(stderr, '');
		assert.equal(status, 0);
	});
}

test('a C++ program links what C has compiled', () => {
	const symbols = spawnSync('sh', ['-c',
		`clang -x c++ -std=c++11 -Ilib/client -c -o build/um_wait_header.o - && nm build/um_wait_header.o`],
	{ cwd, input: PROGRAM, encoding: 'utf8' });
	assert.match(symbols.stdout, /U um_wait_open$/m);
});
