// SPDX-License-Identifier: MIT
// What is generated from lib/contract is what its data say.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { generated, read } from '../../lib/contract/generate.mjs';

for (const [file, text] of generated()) {
	test(`${file} is what make contract writes`, () => {
		assert.ok(read(file) === text, `${file} is old, or was changed by hand: run make contract`);
	});
}
