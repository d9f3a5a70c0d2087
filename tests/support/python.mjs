// The Python of the tests, and the package in it.

import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

export const PYTHON = path('build/python/bin/python');

/** What is compiled is kept, so that each process need not do it again, and nothing is written beside the sources. */
export const PYTHON_ENV = {
	PYTHONPATH: path('lib/python/src'), PYTHONPYCACHEPREFIX: path('build/python/compiled'), PYTHONDONTWRITEBYTECODE: '',
};
