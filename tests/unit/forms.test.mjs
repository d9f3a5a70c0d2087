// SPDX-License-Identifier: MIT
// The callback programs and the Node package say the same about random forms. COUNT and SEED choose them; the packages for
// Python and Go are compared in their own tests.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { faultIn, randomForms } from '../support/random-forms.mjs';

const FORMS = fileURLToPath(new URL(`../../${process.env.URLMODE_BUILD ?? 'build'}/tools/forms`, import.meta.url));

test('a form is accepted, or refused at the same place with the same words', () => {
	const forms = [...randomForms()];
	const input = forms.map(({ kind, form }) => `${kind}\t${JSON.stringify(form)}\n`).join('');
	const said = execFileSync(FORMS, { input, encoding: 'utf8', maxBuffer: 1 << 30 }).split('\n');
	const faults = forms.map(({ kind, form }) => faultIn(kind, form));
	for (const [index, { form }] of forms.entries()) assert.equal(said[index], faults[index] ?? '', JSON.stringify(form));
	const valid = faults.filter((fault) => fault === null).length / forms.length;
	assert.ok(valid > 0.4 && valid < 0.7, `${valid} of them are valid`);
	assert.ok(new Set(faults).size > 100, 'there are many mistakes');
});
