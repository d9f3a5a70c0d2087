# shellcheck shell=sh
# urlmode delivery: how a webhook's delivery would be read.

help_delivery()
{
	cat <<'END'
usage: urlmode delivery --provider NAME [OPTION...] FILE
       urlmode delivery --description FILE.json [--secret SECRET]...
                        [--constant NAME=VALUE]... [--certificate FILE.pem]
                        [--jwks FILE.json] [OPTION...] FILE

Says step by step how the delivery that was saved in FILE would be read, and
writes nothing. FILE has its headers, an empty line, and the body to its last
byte; before them may be the first line (POST /webhook/NAME?a=b HTTP/1.1). If that
is GET and its path ends with /return (GET /payment/NAME/return?a=b HTTP/1.1), FILE
is a browser's return; with another path it is the provider's challenge. Others
can see the arguments of a program: give it the secrets of tests only.
Status 1: the delivery is refused.

  --provider NAME        a provider of the configuration
  --description FILE     without a configuration: a description, and with it
  --secret SECRET        what the delivery is signed with; can be repeated
  --constant NAME=VALUE  a value that the description asks for; can be repeated
  --certificate FILE     a PEM file with the provider's certificates
  --jwks FILE            a JSON file with the provider's public keys
  --at TIME              as if it arrived then: Unix seconds, or
                         2023-11-14T22:13:20Z
  --sign                 print the delivery, or the return, with a signature made
                         with the secret, where the description looks for it: in
                         a header, the query, a form, a multipart body or JSON
END
}

run_delivery()
{
	status=0
	ask delivery "$@" || status=$?
	[ $status -ne 64 ] || warn "try: urlmode help delivery"
	exit $status
}
