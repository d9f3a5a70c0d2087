// SPDX-License-Identifier: MIT
// Writes the deliveries into build/deliveries, where make wants them. What is
// signed is put together from the providers' documentation, not from their
// descriptions, so that the two can be held against each other. Each run writes
// the same: no key and no signature is random. A file NAME.json of this folder is
// one that somebody has written, and is copied.
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';

import { adyen, lemonSqueezy, mollie, paypal, polar, square, stripe } from './payments.mjs';
import {
	docusign, dropboxSign, github, others, razorpay, shopify, standardWebhooks, svix,
} from './others.mjs';
import * as addresses from './addresses.mjs';
import * as platforms from './platforms.mjs';
import { FOLDER } from './support.mjs';

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
for (const name of readdirSync(new URL('.', import.meta.url)).filter((file) => file.endsWith('.json'))) {
	copyFileSync(new URL(name, import.meta.url), new URL(name, FOLDER));
}

stripe();
standardWebhooks('standard-webhooks', 'webhook');
svix();
polar();
paypal();
square();
adyen();
lemonSqueezy();
mollie();
github();
docusign();
dropboxSign();
razorpay();
shopify();
others();
for (const make of Object.values({ ...platforms, ...addresses })) make();
