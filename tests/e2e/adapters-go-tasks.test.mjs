// Calls as tasks with urlmode/mcp, of Go, with the newest version of the official SDK; with VERSIONS=all also with the oldest. And beside instances in Node.

import { before } from 'node:test';

import { makeGatedProject, startExample } from '../support/adapters.mjs';
import { buildGoServer } from '../support/go.mjs';
import { describeTasks } from '../support/task-server.mjs';

/** Each body of a payment asks GATE, and the tools take any arguments. */
const GATED = { 'lib/go/examples/sdk/main.go': (text) => text
	.replace('import (', 'import (\n\t"io"\n\t"os"')
	.replace('type none struct{}', 'type none map[string]any')
	.replace('return text("Paid with " + paid.Reference + "."), nil', `said, err := http.Get(os.Getenv("GATE"))
			if err != nil {
				return nil, err
			}
			defer said.Body.Close()
			all, err := io.ReadAll(said.Body)
			return text("Paid with " + paid.Reference + "." + string(all)), err`) };
const project = makeGatedProject();
const VERSIONS = process.env.VERSIONS === 'all' ? ['newest', 'oldest'] : ['newest'];
const programs = {};

before(async () => {
	for (const version of VERSIONS) programs[version] = await buildGoServer('sdk', `${version}-tasks`, GATED, version === 'oldest' ? ['-modfile=oldest.mod'] : []);
}, { timeout: 900_000 });

/** Starts instances in Go. */
const go = (version) => (fixture, env) => startExample(fixture, project, { command: [programs[version]], env });

/** One instance in Go, one in Node, and so on. */
function both() {
	const start = go('newest');
	let count = 0;
	return (fixture, env) => ((count += 1) % 2 ? start(fixture, env) : startExample(fixture, project, { env }));
}

for (const version of VERSIONS) describeTasks(version === 'newest' ? 'Go' : 'Go oldest', go(version));
describeTasks('Go and Node', both(), /opens the page|any instance|body runs once|nobody has read|a form that is checked|who listens/);
