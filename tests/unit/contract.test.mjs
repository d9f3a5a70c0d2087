// SPDX-License-Identifier: MIT
// What is generated from lib/contract is what its data say, and so is what is written by hand elsewhere.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { data, generated, read } from '../../lib/contract/generate.mjs';
import { IN_TEXTS } from '../../lib/contract/limits.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

for (const [file, text] of generated()) {
	test(`${file} is what make contract writes`, () => {
		assert.ok(read(file) === text, `${file} is old, or was changed by hand: run make contract`);
	});
}

/** @param {string} place a file, or a folder: all files in it */
const textOf = (place) => (statSync(path.join(ROOT, place)).isFile() ? read(place)
	: readdirSync(path.join(ROOT, place), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
		.map((entry) => read(path.relative(ROOT, path.join(entry.parentPath ?? entry.path, entry.name)))).join('\n'));

for (const { name, value, also = {} } of data('limits').limits) {
	for (const [place, texts] of Object.entries(also)) {
		test(`${place} has the limit ${name}`, () => {
			for (const text of texts) {
				const [before, mark, after] = text.split(/(\{\w*\})/);
				const [start, end] = [before, after].map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
				const found = [...textOf(place).matchAll(new RegExp(`${start}(\\d+)(?!\\d)${end}`, 'g'))];
				assert.ok(found.length > 0, `nothing in ${place} is as ${text}`);
				for (const [, number] of found) assert.equal(Number(number) * IN_TEXTS[mark], value, text);
			}
		});
	}
}
