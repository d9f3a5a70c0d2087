// SPDX-License-Identifier: MIT
// Writes the deliveries of each description into build/deliveries, where make wants them. Those of the provider NAME are
// in NAME.mjs of this folder, which signs the text that the provider's documentation defines, so that
// the description can be held against it; or in NAME.json, which somebody has written. Each run writes the same: no key
// and no signature is random.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';

import { deliveriesOf, describedIn, EXAMPLES, FOLDER, NOW, SHIPPED } from './support.mjs';

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const { name } of [...describedIn(SHIPPED), ...describedIn(EXAMPLES)]) {
	const of = await deliveriesOf(name);
	if (of === undefined) throw new Error(`tests/deliveries has neither ${name}.mjs nor ${name}.json, the deliveries of the description ${name}.json`);
	writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify({ now: NOW * 1000, ...of.deliveries() }, null, '\t')}\n`);
}
