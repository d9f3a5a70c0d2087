// The files that the package has beside its own. In the repository they are in lib/;
// `prepare.mjs` puts copies into the package.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDER = ['../../../', '../../'].map((folder) => new URL(folder, import.meta.url))
	.find((folder) => existsSync(new URL('currencies.json', folder)));

/** @param {string} path such as `providers/stripe.json` */
export function shippedFile(path) {
	return fileURLToPath(new URL(path, FOLDER));
}
