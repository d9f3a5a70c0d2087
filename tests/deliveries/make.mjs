// SPDX-License-Identifier: MIT
// Writes the deliveries of this folder: node tests/deliveries/make.mjs. What is
// signed is put together from the providers' documentation, not from their
// descriptions, so that the two can be held against each other.
import { adyen, lemonSqueezy, mollie, paypal, polar, square, stripe } from './payments.mjs';
import {
	docusign, dropboxSign, github, others, razorpay, shopify, standardWebhooks, svix,
} from './others.mjs';
import * as addresses from './addresses.mjs';
import * as platforms from './platforms.mjs';

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
