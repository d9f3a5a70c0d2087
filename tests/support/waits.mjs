// Runs in an example server, before its own code: prints when a call begins to wait for an
// elicitation, and when the wait ends.

import { UrlMode } from 'urlmode';

const { waitForCompletion } = UrlMode.prototype;

UrlMode.prototype.waitForCompletion = async function wait(id, options) {
	const isOfCall = options.timeout > 0 && options.timeout < Infinity;
	if (isOfCall) console.log(`waits for ${id}`);
	try {
		return await waitForCompletion.call(this, id, options);
	} finally {
		if (isOfCall) console.log(`no longer waits for ${id}`);
	}
};
