// The paid server of lib/node/examples.

import { makeExampleProject } from '../support/adapters.mjs';
import { describePaidServer } from '../support/paid-server.mjs';

describePaidServer('Node', { project: () => makeExampleProject('paid', 'newest') });
