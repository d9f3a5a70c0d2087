// The functions of sql/ do what the files beside this one say: psql runs NAME.sql, and must print NAME.out. A file whose
// new output is right is accepted with
//
//     UPDATE=1 node --test tests/sql/sql.test.mjs

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { useStack } from '../support/stack.mjs';
import { FOLDER, NAMES, SqlFiles } from './files.mjs';

let stack;
let files;

before(async () => {
	stack = await useStack({ name: 'sql' });
	files = await SqlFiles.open(stack.env.URLMODE_ADMIN_DATABASE_URL);
});
after(async () => {
	await files?.close();
	await stack?.close();
});

for (const name of NAMES) {
	test(name, async () => {
		const text = await files.run(name);
		if (process.env.UPDATE === '1') writeFileSync(join(FOLDER, `${name}.out`), text);
		const diff = await files.diffOf(name);
		if (diff !== '') assert.fail(`${diff}If the new output is right: UPDATE=1 node --test tests/sql/sql.test.mjs`);
	});
}
