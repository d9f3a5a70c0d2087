// The paid server of lib/go/examples.

import { fileURLToPath } from 'node:url';

import { buildGo } from '../support/go.mjs';
import { describePaidServer } from '../support/paid-server.mjs';

const PROGRAM = fileURLToPath(new URL('../../build/go/paid', import.meta.url));

describePaidServer('Go', {
	command: async () => {
		await buildGo('lib/go/examples/paid', PROGRAM);
		return [PROGRAM];
	},
});
