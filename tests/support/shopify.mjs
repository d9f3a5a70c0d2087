// Shopify's own package, configured as in an app with this client secret.

import '@shopify/shopify-api/adapters/node';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';

export const shopify = (apiSecretKey) => shopifyApi({
	apiKey: 'app', apiSecretKey, hostName: 'app.example', apiVersion: Object.values(ApiVersion)[0], isEmbeddedApp: false,
	logger: { level: LogSeverity.Error },
});
