// urlmode/sdk2 answers calls with tasks.

import { makeExampleProject, startExample } from '../support/adapters.mjs';
import { example } from '../support/projects.mjs';
import { describeTasks } from '../support/task-server.mjs';

const source = example('sdk2.mjs').replace('{ reference }) => (\n\t\t{ content: [{ type: \'text\', text: `Paid with ${reference}.` }] });',
	'{ reference }) => {\n\t\tconst said = await (await fetch(String(process.env.GATE))).text();\n\t\treturn { content: [{ type: \'text\', text: `Paid with ${reference}.${said}` }] };\n\t};');
const project = makeExampleProject('sdk2', 'newest', { source });

describeTasks('Node', (fixture, env) => startExample(fixture, project, { env }));
