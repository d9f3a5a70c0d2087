/* Generated from lib/contract by `make contract`: change it there. */
/* SPDX-License-Identifier: MIT */
/* clang-format off */
#ifndef UM_CONTRACT_DESCRIPTIONS_H
#define UM_CONTRACT_DESCRIPTIONS_H

/*
 * name, whether its events can end a payment and a signature, whether they name the
 * checkout; how it writes amounts ("" if it has none), and the currencies that have
 * other exponents or fewer places there.
 */
#define UM_DESCRIPTIONS(X) \
	X("adobe-acrobat-sign", true, true, false, "", "", "") \
	X("adyen-capture", true, false, false, "minor", "CLP2CVE0IDR0ISK2", "") \
	X("adyen-platforms", true, true, false, "", "", "") \
	X("adyen", true, false, false, "minor", "CLP2CVE0IDR0ISK2", "") \
	X("airtable", false, false, false, "", "", "") \
	X("amazon", false, false, false, "", "", "") \
	X("apple", false, false, false, "", "", "") \
	X("asana", false, false, false, "", "", "") \
	X("atlassian", false, false, false, "", "", "") \
	X("auth0", false, false, false, "", "", "") \
	X("bitbucket", false, false, false, "", "", "") \
	X("box", false, false, false, "", "", "") \
	X("cashfree", true, false, false, "decimal", "", "") \
	X("chargebee", true, true, false, "", "", "") \
	X("checkout-com", true, false, false, "minor", "CLP2", "BHD2IQD2JOD2KWD2LYD2OMR2TND2") \
	X("clickup", false, false, false, "", "", "") \
	X("coinbase-business", true, false, true, "decimal", "", "") \
	X("coinbase-commerce", true, false, false, "decimal", "", "") \
	X("discord", false, false, false, "", "", "") \
	X("documenso", true, true, false, "", "", "") \
	X("docuseal", false, true, false, "", "", "") \
	X("docusign", false, true, false, "", "", "") \
	X("dropbox-sign", true, true, false, "", "", "") \
	X("dropbox", false, false, false, "", "", "") \
	X("figma", false, false, false, "", "", "") \
	X("flutterwave-v4", true, false, false, "decimal", "", "") \
	X("flutterwave", true, true, false, "", "", "") \
	X("github", false, true, false, "", "", "") \
	X("gitlab", false, false, false, "", "", "") \
	X("gocardless", true, true, false, "", "", "") \
	X("google", false, false, false, "", "", "") \
	X("hubspot", false, false, false, "", "", "") \
	X("instagram", false, false, false, "", "", "") \
	X("intercom", false, false, false, "", "", "") \
	X("keycloak", false, false, false, "", "", "") \
	X("klarna", true, true, false, "", "", "") \
	X("lemon-squeezy", true, false, false, "minor", "", "") \
	X("linear", false, false, false, "", "", "") \
	X("linkedin", false, false, false, "", "", "") \
	X("mercado-pago", true, true, false, "", "", "") \
	X("meta", false, false, false, "", "", "") \
	X("microsoft-entra", false, false, false, "", "", "") \
	X("mollie-events", true, false, false, "decimal", "", "") \
	X("mollie", true, true, false, "", "", "") \
	X("monday", false, false, false, "", "", "") \
	X("notion", false, false, false, "", "", "") \
	X("okta", false, false, false, "", "", "") \
	X("onfido", false, true, false, "", "", "") \
	X("openid-connect", false, false, false, "", "", "") \
	X("paddle", true, false, true, "minor", "", "") \
	X("pandadoc", false, true, false, "", "", "") \
	X("paypal-recheck", true, true, false, "", "", "") \
	X("paypal", true, false, true, "decimal", "", "HUF0TWD0") \
	X("paystack", true, false, false, "minor", "", "") \
	X("persona", false, true, false, "", "", "") \
	X("phonepe", true, true, false, "", "", "") \
	X("plaid", true, true, false, "", "", "") \
	X("polar", true, false, true, "minor", "", "") \
	X("quickbooks", false, false, false, "", "", "") \
	X("razorpay", true, false, false, "minor", "", "BHD2KWD2OMR2") \
	X("reddit", false, false, false, "", "", "") \
	X("salesforce", false, false, false, "", "", "") \
	X("shopify", true, true, false, "decimal", "", "") \
	X("slack-bot", false, false, false, "", "", "") \
	X("slack", false, true, false, "", "", "") \
	X("spotify", false, false, false, "", "", "") \
	X("square", true, false, false, "minor", "", "") \
	X("standard-webhooks", true, true, false, "minor", "", "") \
	X("stripe", true, true, true, "minor", "ISK2MGA0UGX2", "BHD2JOD2KWD2OMR2TND2") \
	X("svix", true, true, false, "minor", "", "") \
	X("tiktok", false, false, false, "", "", "") \
	X("truelayer", true, true, false, "", "", "") \
	X("twilio", true, true, false, "", "", "") \
	X("twitch", false, false, false, "", "", "") \
	X("veriff", false, true, false, "", "", "") \
	X("worldpay", true, false, false, "minor", "", "") \
	X("x", false, false, false, "", "", "") \
	X("xendit", true, true, false, "", "", "") \
	X("xero", false, false, false, "", "", "") \
	X("yousign", false, true, false, "", "", "") \
	X("zendesk", false, false, false, "", "", "") \
	X("zoho", false, false, false, "", "", "") \
	X("zoom", false, false, false, "", "", "")

/* The currencies of ISO 4217, and the decimals of each. */
#define UM_CURRENCIES \
	"BIF0CLP0DJF0GNF0ISK0JPY0KMF0KRW0PYG0RWF0UGX0UYI0VND0VUV0XAF0XOF0XPF0" \
	"AED2AFN2ALL2AMD2ANG2AOA2ARS2AUD2AWG2AZN2BAM2BBD2BDT2BGN2BMD2BND2BOB2BOV2BRL2BSD2" \
	"BTN2BWP2BYN2BZD2CAD2CDF2CHE2CHF2CHW2CNY2COP2COU2CRC2CUC2CUP2CVE2CZK2DKK2DOP2DZD2" \
	"EGP2ERN2ETB2EUR2FJD2FKP2GBP2GEL2GHS2GIP2GMD2GTQ2GYD2HKD2HNL2HTG2HUF2IDR2ILS2INR2" \
	"IRR2JMD2KES2KGS2KHR2KPW2KYD2KZT2LAK2LBP2LKR2LRD2LSL2MAD2MDL2MGA2MKD2MMK2MNT2MOP2" \
	"MRU2MUR2MVR2MWK2MXN2MXV2MYR2MZN2NAD2NGN2NIO2NOK2NPR2NZD2PAB2PEN2PGK2PHP2PKR2PLN2" \
	"QAR2RON2RSD2RUB2SAR2SBD2SCR2SDG2SEK2SGD2SHP2SLE2SOS2SRD2SSP2STN2SVC2SYP2SZL2THB2" \
	"TJS2TMT2TOP2TRY2TTD2TWD2TZS2UAH2USD2USN2UYU2UZS2VED2VES2WST2XAD2XCD2XCG2YER2ZAR2" \
	"ZMW2ZWG2" \
	"BHD3IQD3JOD3KWD3LYD3OMR3TND3" \
	"CLF4UYW4"

#endif
