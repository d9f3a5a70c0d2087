/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "crypto/hkdf.h"
#include "support.h"

#define SECRET_A2                                                              \
	"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"     \
	"202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"     \
	"404142434445464748494a4b4c4d4e4f"
#define SALT_A2                                                                \
	"606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"     \
	"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"     \
	"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
#define INFO_A2                                                                \
	"b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecf"     \
	"d0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeef"     \
	"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

static struct um_str
str_of_hex(uint8_t *out, const char *hex)
{
	size_t len = strlen(hex) / 2;

	bytes_of_hex(out, len, hex);
	return (struct um_str){ (const char *)out, len };
}

/* RFC 5869 appendix A.1 to A.3; of each output the first 32 bytes. */
TEST(derives_as_the_rfc_does)
{
	static const struct {
		const char *label;
		const char *secret, *salt, *info;
		const char *okm;
	} cases[] = {
		{ "A.1", "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
			"000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
			"3cb25f25faacd57a90434f64d0362f2a"
			"2d2d0a90cf1a5a4c5db02d56ecc4c5bf" },
		{ "A.2", SECRET_A2, SALT_A2, INFO_A2,
			"b11e398dc80327a1c8e7f78c596a4934"
			"4f012eda2d4efad8a050cc4c19afa97c" },
		{ "A.3", "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
			"8da4e775a563c18f715f802a063c5a31"
			"b8a11f5c5ee1879ec3454e5f3c738d2d" },
	};
	EVP_MAC_CTX *ctx = um_hkdf_new();

	assert_non_null(ctx);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		uint8_t secret[80], salt[80], info[80];
		uint8_t okm[UM_HKDF_LEN], out[UM_HKDF_LEN];

		bytes_of_hex(okm, sizeof(okm), cases[i].okm);
		assert_row(cases[i].label,
			um_hkdf_sha256(out, ctx,
				str_of_hex(secret, cases[i].secret),
				str_of_hex(salt, cases[i].salt),
				str_of_hex(info, cases[i].info))
				&& memcmp(out, okm, sizeof(okm)) == 0);
	}
	EVP_MAC_CTX_free(ctx);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(derives_as_the_rfc_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
