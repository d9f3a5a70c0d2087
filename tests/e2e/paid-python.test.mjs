// The paid server of lib/python/examples.

import { fileURLToPath } from 'node:url';

import { describePaidServer } from '../support/paid-server.mjs';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

describePaidServer('Python', {
	command: () => [path('build/python/bin/python'), path('lib/python/examples/paid.py')],
	env: { PYTHONPATH: path('lib/python/src'), PYTHONDONTWRITEBYTECODE: '1' },
});
