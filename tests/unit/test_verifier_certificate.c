/* SPDX-License-Identifier: MIT */
/* Pinned certificates, in the place of a key. */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "signing.h"
#include "support.h"
#include "webhook/verifier.h"

/* A certificate that signs itself, in PEM. */
static void
put_certificate(struct um_buf *out, EVP_PKEY *key, const char *constraints,
	time_t from, time_t to)
{
	X509 *certificate = X509_new();
	X509_NAME *name = X509_get_subject_name(certificate);
	BIO *bio = BIO_new(BIO_s_mem());
	char *pem;
	long len;

	assert_true(certificate != NULL && bio != NULL);
	X509_set_version(certificate, 2);
	X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
		(const unsigned char *)"test", -1, -1, 0);
	X509_set_issuer_name(certificate, name);
	ASN1_TIME_set(X509_getm_notBefore(certificate), from);
	ASN1_TIME_set(X509_getm_notAfter(certificate), to);
	X509_set_pubkey(certificate, key);
	if (constraints != NULL) {
		X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL,
			NID_basic_constraints, constraints);

		assert_non_null(extension);
		X509_add_ext(certificate, extension, -1);
		X509_EXTENSION_free(extension);
	}
	assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509(bio, certificate), 1);
	len = BIO_get_mem_data(bio, &pem);
	um_buf_put(out, pem, (size_t)len);
	BIO_free(bio);
	X509_free(certificate);
}

static enum um_verify_error
add_certificates(struct um_verifier *verifier, struct um_buf *pem)
{
	char *path = file_make(um_buf_str(pem), 0600);
	enum um_verify_error error = um_verifier_add_certificates(verifier,
		path);

	file_remove(path);
	um_buf_free(pem);
	return error;
}

TEST(pinned_certificates)
{
	EVP_PKEY *key = key_of_tests("rsa-1"), *next = key_of_tests("rsa-2");
	EVP_PKEY *authority = key_of_tests("rsa-3");
	struct um_verifier *verifier = um_verifier_new(UM_RSA_SHA256,
		UM_BASE64);
	char text[3][1024];
	struct um_buf pem = { 0 };
	struct um_str by_key, by_next, by_authority;
	int64_t end;

	sign_text(key, EVP_sha256(), STR("m"), text[0]);
	sign_text(next, EVP_sha256(), STR("m"), text[1]);
	sign_text(authority, EVP_sha256(), STR("m"), text[2]);
	by_key = um_str(text[0]);
	by_next = um_str(text[1]);
	by_authority = um_str(text[2]);
	put_certificate(&pem, key, "CA:FALSE", 1000, 2000);
	put_certificate(&pem, authority, "critical,CA:TRUE", 0, 9000);
	put_certificate(&pem, next, NULL, 1900, 3000);
	assert_int_equal(add_certificates(verifier, &pem), UM_VERIFY_OK);
	assert_int_equal(um_verifier_count_keys(verifier), 2);

	assert_true(um_verifier_end(verifier, &end));
	assert_int_equal(end, 3000999);
	/* To the second, on both sides. */
	assert_int_equal(um_verifier_match(verifier, STR("m"), &by_key, 1,
				 999999),
		UM_VERIFY_OUT_OF_DATE);
	assert_int_equal(um_verifier_match(verifier, STR("m"), &by_key, 1,
				 1000000),
		UM_VERIFY_OK);
	assert_int_equal(um_verifier_match(verifier, STR("m"), &by_key, 1,
				 2000999),
		UM_VERIFY_OK);
	/* Where the next one is valid, only its own signature is called old. */
	assert_int_equal(um_verifier_match(verifier, STR("m"), &by_key, 1,
				 2001000),
		UM_VERIFY_OUT_OF_DATE);
	assert_int_equal(um_verifier_match(verifier, STR("n"), &by_key, 1,
				 2001000),
		UM_VERIFY_WRONG);
	assert_int_equal(um_verifier_match(verifier, STR("n"), &by_next, 1,
				 3001000),
		UM_VERIFY_OUT_OF_DATE);
	assert_int_equal(um_verifier_match(verifier, STR("m"), &by_next, 1,
				 1950000),
		UM_VERIFY_OK);
	assert_int_not_equal(um_verifier_match(verifier, STR("m"),
				     &by_authority, 1, 1950000),
		UM_VERIFY_OK);
	um_verifier_free(verifier);
	EVP_PKEY_free(key);
	EVP_PKEY_free(next);
	EVP_PKEY_free(authority);
}

TEST(certificates_that_are_refused)
{
	EVP_PKEY *rsa = key_of_tests("rsa-1"), *ec = EVP_EC_gen("P-256");
	struct um_verifier *verifier = um_verifier_new(UM_RSA_SHA256,
		UM_BASE64);
	struct um_buf pem = { 0 };

	assert_int_equal(um_verifier_add_certificates(verifier,
				 "/nonexistent/x.pem"),
		UM_VERIFY_FILE_UNREADABLE);
	um_buf_puts(&pem, "no certificate\n");
	assert_int_equal(add_certificates(verifier, &pem),
		UM_VERIFY_NO_CERTIFICATE);
	put_certificate(&pem, rsa, "CA:TRUE", 0, 1000);
	assert_int_equal(add_certificates(verifier, &pem),
		UM_VERIFY_NO_CERTIFICATE);
	put_certificate(&pem, ec, NULL, 0, 1000);
	assert_int_equal(add_certificates(verifier, &pem),
		UM_VERIFY_KEY_NOT_RSA);
	for (size_t i = 0; i < UM_VERIFIER_KEYS_MAX + 1; i++)
		put_certificate(&pem, rsa, NULL, 0, 1000);
	assert_int_equal(add_certificates(verifier, &pem),
		UM_VERIFY_CERTIFICATES_TOO_MANY);
	um_verifier_free(verifier);
	EVP_PKEY_free(rsa);
	EVP_PKEY_free(ec);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pinned_certificates),
		cmocka_unit_test(certificates_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
