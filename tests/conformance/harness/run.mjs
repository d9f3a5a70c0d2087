// Runs our scenarios outside the suite: node run.mjs URL. The modules of the suite
// that they import are stood in for by the files beside this one.

import { registerHooks } from 'node:module';

const [, , serverUrl] = process.argv;
const STAND_INS = {
	'../../types': './types.ts', '../../connection': './connection.ts', '../../connection/sdk-client': './sdk-client.ts',
};

registerHooks({
	resolve: (specifier, context, next) => (Object.hasOwn(STAND_INS, specifier)
		? next(new URL(STAND_INS[specifier], import.meta.url).href, context) : next(specifier, context)),
});

const scenarios = await import('../scenarios/elicitation-url.ts');
for (const Scenario of Object.values(scenarios)) {
	const scenario = new Scenario();
	for (const { id, status, errorMessage } of await scenario.run({ serverUrl, specVersion: scenario.source.introducedIn })) {
		console.log(`  [${id}] ${status}${errorMessage ? `  ${errorMessage}` : ''}`);
		if (status === 'FAILURE') process.exitCode = 1;
	}
}
process.exit();
