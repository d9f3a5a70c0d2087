// urlmode/sdk2 answers calls with tasks.

import { makeGatedProject, startExample } from '../support/adapters.mjs';
import { describeTasks } from '../support/task-server.mjs';

const project = makeGatedProject();

describeTasks('Node', (fixture, env) => startExample(fixture, project, { env }));
