// SPDX-License-Identifier: MIT

package vault

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"urlmode.example/urlmode/internal/limits"
	"urlmode.example/urlmode/internal/texts"
)

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// Client is this server, as it is registered at a provider. Without a secret and a key it is a public client.
type Client struct {
	ID     string // as the provider has registered it
	Secret string // of the client; never in a log
	// PrivateKey is in PEM, of RSA or of a curve of NIST, for a provider whose clients sign their requests, and KeyID its name there.
	PrivateKey string
	KeyID      string
}

// String leaves out what is secret.
func (c Client) String() string { return "the client " + c.ID }

// GoString leaves out what is secret.
func (c Client) GoString() string { return c.String() }

// client is one whose key was read.
type client struct {
	Client
	signer jose.Signer
}

// readClient also says whether the client fits the description.
func readClient(given Client, d description) (*client, error) {
	made := &client{Client: given}
	needsKey := d.Method == "private_key_jwt" || d.SignedSecret != nil
	switch {
	case given.ID == "":
		return nil, refuse("Client.ID is required")
	case needsKey && given.Secret != "":
		return nil, refuse(texts.SecretBesideKey)
	case needsKey && given.PrivateKey == "":
		return nil, refuse(texts.PrivateKeyRequired)
	case needsKey:
		signer, err := signerOf(given)
		made.signer = signer
		return made, err
	case given.PrivateKey != "":
		return nil, refuse(texts.PrivateKeyNotAllowed)
	case given.Secret == "" && d.PKCE == "none":
		return nil, refuse(texts.SecretRequired)
	case given.Secret != "" && d.Method == "none":
		return nil, refuse(texts.SecretNotAllowed)
	}
	return made, nil
}

// signerOf signs as the key can.
func signerOf(given Client) (jose.Signer, error) {
	var algorithm jose.SignatureAlgorithm
	key, err := signingKeyOf(given.PrivateKey)
	if err != nil {
		return nil, refuse(texts.PrivateKeyForm)
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		algorithm = jose.RS256
	case *ecdsa.PrivateKey:
		algorithm = map[string]jose.SignatureAlgorithm{"P-256": jose.ES256, "P-384": jose.ES384, "P-521": jose.ES512}[key.Curve.Params().Name]
	}
	if algorithm != "" {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: key, KeyID: given.KeyID}}, nil)
		if err == nil {
			return signer, nil
		}
	}
	return nil, refuse(texts.PrivateKeyForm)
}

// signingKeyOf parses a PEM key. Do not log its error: it may quote the key.
func signingKeyOf(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("no PEM")
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		signer, _ := key.(crypto.Signer)
		return signer, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	// Its nil pointer would be a signer that is not nil.
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	return key, nil
}

// authenticate adds to the fields of a request to the token endpoint, or returns the header that says who asks.
func (c *client) authenticate(d description, tokenEndpoint string, fields map[string]string) (header string, err error) {
	switch {
	case d.SignedSecret != nil:
		fields["client_id"] = c.ID
		fields["client_secret"], err = c.sign(map[string]any{"iss": d.SignedSecret.Issuer, "sub": c.ID, "aud": d.SignedSecret.Audience})
	case d.Method == "private_key_jwt":
		fields["client_id"], fields["client_assertion_type"] = c.ID, assertionType
		fields["client_assertion"], err = c.sign(map[string]any{"iss": c.ID, "sub": c.ID, "aud": tokenEndpoint, "jti": rand.Text()})
	case c.Secret != "" && d.Method == "client_secret_basic":
		pair := encode(c.ID) + ":" + encode(c.Secret)
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)), nil
	default:
		fields["client_id"] = c.ID
		if c.Secret != "" {
			fields["client_secret"] = c.Secret
		}
	}
	return "", err
}

// encode is as application/x-www-form-urlencoded has it (RFC 6749 section 2.3.1): what a form need not encode stays as it is.
func encode(text string) string {
	return strings.NewReplacer("%2A", "*", "~", "%7E").Replace(url.QueryEscape(text))
}

// sign makes a JSON Web Token (RFC 7519).
func (c *client) sign(claims map[string]any) (string, error) {
	now := time.Now()
	all := maps.Clone(claims)
	all["iat"], all["exp"] = now.Unix(), now.Add(limits.Assertion).Unix()
	text, err := json.Marshal(all)
	if err != nil {
		return "", err
	}
	signed, err := c.signer.Sign(text)
	if err != nil {
		return "", &failure{detail: "NOT_SIGNED"} // whose error may quote the key
	}
	return signed.CompactSerialize()
}
