// SPDX-License-Identifier: MIT

package vault

import "strings"

// between is what separates a tenant from a subject.
const between = "\x1f"

// accountOwner is whose an account is, as one text: the subject; of a tenant, its name, U+001F and the subject. A subject that has
// U+001F itself follows one as well. The key of the row and the seal of its tokens have it in place of the subject.
func accountOwner(tenant, subject string) string {
	if tenant == "" && !strings.Contains(subject, between) {
		return subject
	}
	return tenant + between + subject
}

// whoseAccount takes an owner apart.
func whoseAccount(owner string) (tenant, subject string) {
	tenant, subject, is := strings.Cut(owner, between)
	if !is {
		return "", owner
	}
	return tenant, subject
}
