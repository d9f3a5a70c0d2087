// Prints the rows of lib/contract/hosts.json whose sources nobody has looked at for 90 days.

import { data } from '../../lib/contract/generate.mjs';
import { olderThan } from '../../lib/contract/hosts.mjs';

const old = olderThan(data('hosts'), 90);
for (const { host, date, sources } of old) console.log(`${date}  ${host}: ${sources.join(' ')}`);
console.log(old.length === 0 ? 'All rows of lib/contract/hosts.json were looked at in the last 90 days.'
	: `These ${old.length} rows of lib/contract/hosts.json are older than 90 days: look again, and write the date of today.`);
