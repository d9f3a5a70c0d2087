// The paid server of lib/python/examples. Each one that is started after a kill is a fork of a process that has loaded its framework.

import { fileURLToPath } from 'node:url';

import { Forks } from '../support/forks.mjs';
import { describePaidServer } from '../support/paid-server.mjs';
import { PYTHON, PYTHON_ENV } from '../support/python.mjs';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

describePaidServer('Python', {
	forks: (project, stack, env) => new Forks(project, stack, {
		command: [PYTHON, path('tests/support/waits.py'), path('lib/python/examples/paid.py')], env: { ...PYTHON_ENV, ...env },
	}),
});
