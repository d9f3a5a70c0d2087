// Has SPIN look at every state of a model.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';

const DEPTH_MAX = 100_000;

/**
 * The compiler takes longer than most searches, and clang half as long as gcc. Only the searches of `make model` gain from an
 * optimizer, and need a compressed memory.
 */
const [COMPILER, ...OPTIONS] = process.env.MODEL === 'all' ? ['gcc', '-O1', '-DCOLLAPSE'] : ['clang', '-O0'];

const run = promisify(execFile);

/**
 * Looks at every state that these macros allow.
 *
 * @param {string} model a file of this folder
 * @param {string[]} macros
 * @returns {Promise<{ error: string | undefined, states: number }>} the first error that was found
 */
export async function check(model, macros) {
	const folder = await mkdtemp(join(tmpdir(), 'urlmode-model-'));
	try {
		// SPIN hands its name to a shell, and a folder may have a space.
		await copyFile(join(import.meta.dirname, model), join(folder, 'model.pml'));
		await run('spin', ['-a', ...macros.map((macro) => `-D${macro}`), 'model.pml'], { cwd: folder });
		// MEMLIM: megabytes. More states than that are an error, not a shorter search.
		await run(COMPILER, [...OPTIONS, '-w', '-DSAFETY', '-DMEMLIM=12000', '-o', 'pan', 'pan.c'], { cwd: folder });
		const { stdout } = await run('./pan', [`-m${DEPTH_MAX}`, '-n'], { cwd: folder });
		assert.doesNotMatch(stdout, /max search depth too small|out of memory|Search not completed(?![^]*errors: 1)/);
		const [, states] = stdout.match(/([\d.e+]+) states, stored/);

		return { error: stdout.match(/^pan:1: (.*) \(at depth/m)?.[1], states: Number(states) };
	} finally {
		await rm(folder, { recursive: true });
	}
}
