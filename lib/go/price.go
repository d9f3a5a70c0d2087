// SPDX-License-Identifier: MIT

package urlmode

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"urlmode.example/urlmode/internal/limits"
)

// pricesJSON is what prices need of lib/currencies.json and lib/providers. `make contract` writes it.
//
//go:embed prices.json
var pricesJSON []byte

// prices are the decimals of each currency, and the units of each provider.
type prices struct {
	Exponents map[string]int   `json:"exponents"`
	Providers map[string]units `json:"providers"`
}

// units are in what a provider writes an amount.
type units struct {
	As        string         `json:"as"`
	Exponents map[string]int `json:"exponents,omitempty"`
	Places    map[string]int `json:"places,omitempty"`
}

var shippedPrices = sync.OnceValue(func() (read prices) {
	if err := json.Unmarshal(pricesJSON, &read); err != nil {
		panic(err) // only if the file was changed by hand
	}
	return read
})

func exponents() map[string]int { return shippedPrices().Exponents }

// asDecimal writes an amount with as many decimals.
func asDecimal(amount int64, decimals int) string {
	digits := strconv.FormatInt(amount, 10)
	if decimals == 0 {
		return digits
	}
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
}

func power10(exponent int) int64 {
	power := int64(1)
	for range exponent {
		power *= 10
	}
	return power
}

// priceOf writes the price as the provider does. It is empty for a provider without a description.
func priceOf(provider string, price Expected) (string, error) {
	of, known := shippedPrices().Providers[provider]
	if !known {
		return "", nil
	}
	exponent := exponents()[price.Currency]
	own, ok := of.Exponents[price.Currency]
	if !ok {
		own = exponent
	}
	places, ok := of.Places[price.Currency]
	if !ok {
		places = own
	}
	places = min(places, exponent)
	step := power10(exponent - places)
	if price.Amount%step != 0 {
		return "", argumentError("the amount of Expected must be a multiple of %d: %s cannot charge a smaller part of %s",
			step, provider, price.Currency)
	}
	if of.As == "decimal" {
		return asDecimal(price.Amount/step, places), nil
	}
	written := price.Amount
	if own >= exponent {
		if factor := power10(own - exponent); price.Amount > limits.SafeInteger/factor {
			return "", argumentError("the amount of Expected is more than %s can charge", provider)
		} else {
			written *= factor
		}
	} else {
		written /= power10(exponent - own)
	}
	return strconv.FormatInt(written, 10), nil
}
