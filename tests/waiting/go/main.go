// SPDX-License-Identifier: MIT

// The Go package, as tests/waiting/README.md describes a driver.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"urlmode.example/urlmode"
	"urlmode.example/urlmode/vault"
)

// given has the options of every verb.
type given struct {
	ElicitationID string          `json:"elicitation_id"`
	Subject       string          `json:"subject"`
	Session       string          `json:"session"`
	Provider      string          `json:"provider"`
	Kind          urlmode.Kind    `json:"kind"`
	TargetURL     string          `json:"target_url"`
	Expected      expected        `json:"expected"`
	PKCE          bool            `json:"pkce"`
	Form          json.RawMessage `json:"form"`
	Approver      json.RawMessage `json:"approver"`
	VerifyTimeout float64         `json:"verify_timeout_ms"`
	TTL           float64         `json:"ttl_ms"`
	OlderThan     float64         `json:"older_than_ms"`
	Since         *float64        `json:"since_ms"`
	ID            string          `json:"id"`
	Exclusive     bool            `json:"exclusive"`
	ResumeKey     string          `json:"resume_key"`
	Item          string          `json:"item"`
	Delivered     bool            `json:"delivered"`
	Checkout      string          `json:"checkout"`
	About         map[string]any  `json:"about"`
	ClientID      string          `json:"client_id"`
	SameClient    bool            `json:"same_client"`
	Timeout       *float64        `json:"timeout_ms"`
	Lease         float64         `json:"lease_ms"`
	Abandon       bool            `json:"abandon"`
	CanRecheck    *bool           `json:"can_recheck"`
	Recheck       json.RawMessage `json:"recheck"`
	RecheckAfter  *float64        `json:"recheck_after_ms"`
	Verify        *onlyRight      `json:"verify"`
	answer
	Answer *answer `json:"answer"`
	Error  string  `json:"error"`
	Held   bool    `json:"held"`
	Wait   int     `json:"wait"`
	Claim  int     `json:"claim"`
	// Of begin_claim and end:
	AnyPayment bool             `json:"any_payment"`
	How        urlmode.ClaimEnd `json:"how"`
	Refund     string           `json:"refund"`
	// Of the ledger:
	Consumer string `json:"consumer"`
	Count    int    `json:"count"`
	// Of a vault:
	Keys     string         `json:"keys"`
	Issuer   string         `json:"issuer"`
	Account  string         `json:"account"`
	ValidFor float64        `json:"valid_for_ms"`
	Refused  string         `json:"refused"`
	Reuse    any            `json:"reuse_within"`
	Tokens   map[string]any `json:"tokens"`
}

// onlyRight is the only right value of a field, and what is wrong with another.
type onlyRight struct {
	Field   string        `json:"field"`
	Value   any           `json:"value"`
	Problem urlmode.Words `json:"problem"`
}

type expected urlmode.Expected

func (e *expected) UnmarshalJSON(text []byte) error {
	if e.Any = string(text) == `"any"`; e.Any {
		return nil
	}
	return json.Unmarshal(text, (*urlmode.Expected)(e))
}

type answer struct {
	Action    urlmode.Action  `json:"action"`
	Reason    string          `json:"reason"`
	Result    json.RawMessage `json:"result"`
	Amount    int64           `json:"amount"`
	Currency  string          `json:"currency"`
	Reference string          `json:"reference"`
	Payments  []entry         `json:"payments"`
	Refunds   []entry         `json:"refunds"`
}

// entry is of both lists.
type entry struct {
	Reference     string              `json:"reference"`
	Payment       string              `json:"payment"`
	Amount        int64               `json:"amount"`
	Currency      string              `json:"currency"`
	Status        urlmode.EntryStatus `json:"status"`
	ElicitationID string              `json:"elicitation_id"`
	Checkout      string              `json:"checkout"`
}

func (a answer) answer() (said urlmode.Answer, err error) {
	if a.Result != nil {
		err = json.Unmarshal(a.Result, &said.Result)
	}
	said.Action, said.Reason, said.Amount, said.Currency, said.Reference = a.Action, a.Reason, a.Amount, a.Currency, a.Reference
	for _, of := range a.Payments {
		said.Payments = append(said.Payments, urlmode.PaymentEntry{Reference: of.Reference, Amount: of.Amount, Currency: of.Currency,
			Status: of.Status, ElicitationID: of.ElicitationID, Checkout: of.Checkout})
	}
	for _, of := range a.Refunds {
		said.Refunds = append(said.Refunds, urlmode.RefundEntry{Reference: of.Reference, Payment: of.Payment, Amount: of.Amount,
			Currency: of.Currency, Status: of.Status, ElicitationID: of.ElicitationID, Checkout: of.Checkout})
	}
	return said, err
}

// selected counts since_ms from now.
func (g given) selected() urlmode.ListOptions {
	options := urlmode.ListOptions{Provider: g.Provider}
	if g.Since != nil {
		options.Since = time.Now().Add(ms(*g.Since))
	}
	return options
}

func ms(value float64) time.Duration { return time.Duration(value * float64(time.Millisecond)) }

type members = map[string]any

type driver struct {
	instance *urlmode.Instance
	vault    *vault.Vault

	mu     sync.Mutex
	stops  map[int]context.CancelFunc
	claims map[int]*urlmode.Claim
	asked  map[int]chan given
}

var output sync.Mutex

func say(message members) {
	output.Lock()
	defer output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(message); err != nil {
		panic(err)
	}
}

func (d *driver) run(ctx context.Context, number int, verb string, with given) (any, error) {
	owner := urlmode.Owner{Subject: with.Subject, Session: with.Session}
	id := with.ElicitationID
	d.mu.Lock()
	claim := d.claims[with.Claim]
	d.mu.Unlock()
	switch verb {
	case "create":
		if with.Kind == urlmode.Input || with.Kind == urlmode.Approval {
			return d.createForm(ctx, with, owner)
		}
		request := urlmode.Request{
			Provider: with.Provider, Kind: with.Kind, Owner: owner, TargetURL: with.TargetURL, Expected: urlmode.Expected(with.Expected), PKCE: with.PKCE,
			RequestOptions: urlmode.RequestOptions{TTL: ms(with.TTL), ID: with.ID, Exclusive: with.Exclusive, ResumeKey: with.ResumeKey, About: with.About, ClientID: with.ClientID, SameClient: with.SameClient},
			Item:           with.Item, CannotRecheck: with.CanRecheck != nil && !*with.CanRecheck,
		}
		if with.Checkout != "" {
			request.TargetURL, request.Target = "", func(context.Context, urlmode.TargetArguments) (urlmode.Target, error) {
				return urlmode.Target{URL: with.TargetURL, Checkout: with.Checkout}, nil
			}
		}
		made, err := d.instance.Create(ctx, request)
		return members{"elicitation_id": made.ElicitationID, "url": made.URL, "return_url": made.ReturnURL,
			"cancel_url": made.CancelURL, "webhook_url": made.WebhookURL, "resumed": made.Resumed}, err
	case "wait":
		return d.wait(ctx, number, with, owner)
	case "stop":
		d.mu.Lock()
		defer d.mu.Unlock()
		if stop := d.stops[with.Wait]; stop != nil {
			stop()
		}
		return nil, nil
	case "answer":
		d.mu.Lock()
		defer d.mu.Unlock()
		d.asked[with.Wait] <- with
		return nil, nil
	case "complete":
		said, err := with.answer.answer()
		if err != nil {
			return nil, err
		}
		return d.instance.Complete(ctx, id, owner, said)
	case "cancel":
		return d.instance.Cancel(ctx, id, owner, with.Reason)
	case "abandon":
		return d.instance.Abandon(ctx, id, owner, with.Action, with.Reason)
	case "claim":
		return d.instance.Claim(ctx, id, owner, urlmode.ClaimOptions{Action: with.Action, Reference: with.Reference, Held: with.Held})
	case "begin_claim":
		options := urlmode.LeaseOptions{Reference: with.Reference, Lease: ms(with.Lease), AnyPayment: with.AnyPayment}
		if with.Timeout != nil {
			options.Wait = ms(*with.Timeout)
		}
		if with.RecheckAfter != nil {
			options.RecheckAfter = min(-1, ms(*with.RecheckAfter))
			if *with.RecheckAfter > 0 {
				options.RecheckAfter = ms(*with.RecheckAfter)
			}
		}
		if with.Recheck != nil {
			options.Recheck = func(context.Context, urlmode.Recheck) (*urlmode.Answer, error) {
				if string(with.Recheck) == `"fails"` {
					return nil, errFailed
				}
				var of answer
				if err := json.Unmarshal(with.Recheck, &of); err != nil {
					return nil, err
				}
				said, err := of.answer()
				return &said, err
			}
		}
		begun, err := d.instance.BeginClaim(ctx, id, owner, options)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.claims[number] = begun
		return members{"state": begun.State, "reference": begun.Reference, "fence": begun.Fence, "result": inShort(begun.Result)}, nil
	case "fulfil":
		return claim.Fulfil(ctx, inFull(with.Result))
	case "confirm":
		return claim.Confirm(ctx)
	case "release":
		return claim.Release(ctx)
	case "release_unsent":
		return claim.ReleaseUnsent(ctx)
	case "end":
		return nil, claim.End(ctx, with.How, with.Refund)
	case "unclaimed":
		listed, err := d.instance.Unclaimed(ctx, with.selected())
		told := []members{}
		for _, each := range listed {
			told = append(told, payment(each.ProvenPayment, members{"late": each.Late, "refunded": each.Refunded, "held": each.Held,
				"item": each.Item, "resume_key": each.ResumeKey, "result": each.Result, "proven_at": each.ProvenAt}))
		}
		return told, err
	case "refunds":
		listed, err := d.instance.Refunds(ctx, with.selected())
		told := []members{}
		for _, each := range listed {
			told = append(told, refund(each))
		}
		return told, err
	case "ledger":
		told := []members{}
		for each, err := range d.instance.Ledger(ctx, urlmode.LedgerOptions{Consumer: with.Consumer}) {
			if err != nil {
				return nil, err
			}
			if id != "" && each.ElicitationID != id {
				continue
			}
			told = append(told, members{"type": each.Type, "kind": each.Kind, "provider": each.Provider, "subject": each.Subject, "item": each.Item,
				"payment": each.Payment, "reference": each.Reference, "amount": each.Amount, "currency": each.Currency, "refunded": each.Refunded,
				"entered_at": each.EnteredAt})
			if len(told) == with.Count {
				break
			}
		}
		return told, nil
	case "paid":
		return d.instance.Paid(ctx, urlmode.PaidOptions{Subject: with.Subject, Item: with.Item, Since: with.selected().Since, Delivered: with.Delivered})
	case "purge":
		return d.instance.Purge(ctx, urlmode.PurgeOptions{OlderThan: ms(with.OlderThan), Kind: string(with.Kind)})
	case "ticket":
		ticket, err := d.instance.Ticket(with.Subject, ms(with.TTL))
		return members{"name": ticket.Name, "value": ticket.Value, "header": ticket.Header}, err
	case "late":
		go func() {
			for each := range d.instance.LatePayments(context.Background()) {
				say(members{"late": payment(each, nil)})
			}
		}()
		return nil, nil
	case "new_refunds":
		go func() {
			for each := range d.instance.NewRefunds(context.Background()) {
				say(members{"refund": refund(each)})
			}
		}()
		return nil, nil
	case "open_vault":
		var err error
		d.vault, err = vault.New(d.instance, vault.Config{Keys: with.Keys, OnEvent: hear, Providers: map[string]vault.Provider{"demo": {
			Client: vault.Client{ID: "a", Secret: "secret-of-the-client"}, Description: "openid-connect", Variables: map[string]string{"issuer": with.Issuer}, ReuseWithin: reuseOf(with.Reuse)}}})
		return nil, err
	case "store":
		return d.vault.Store(ctx, with.Subject, "demo", vault.Connected{Tokens: with.Tokens, Account: with.Account, Scopes: []string{"read"}, Requested: []string{"read"}})
	case "access_token":
		token, err := d.vault.AccessToken(ctx, urlmode.AccountRequest{Subject: with.Subject, Provider: "demo", ValidFor: ms(with.ValidFor), Refused: with.Refused})
		return members{"access_token": token.Token, "account": token.Account}, err
	case "disconnect":
		done, err := d.vault.Disconnect(ctx, with.Subject, "demo", with.Account)
		return members{"revoked": done.Revoked, "detail": done.Detail}, err
	case "accounts":
		listed, err := d.vault.Accounts(ctx, with.Subject, "")
		told := []members{}
		for _, each := range listed {
			told = append(told, members{"account": each.Account, "state": each.State, "reason": each.Reason})
		}
		return told, err
	case "forget":
		return nil, d.vault.ForgetSubject(ctx, with.Subject)
	case "reseal":
		done, err := d.vault.Reseal(ctx)
		return members{"sealed": done.Sealed, "unopened": done.Unopened}, err
	case "close":
		return nil, d.instance.Close()
	}
	return nil, fmt.Errorf("no verb is called %s", verb)
}

func hear(event vault.Event) {
	say(members{"event": members{"name": event.Name, "reason": event.Reason}})
}

func (d *driver) createForm(ctx context.Context, with given, owner urlmode.Owner) (any, error) {
	var made urlmode.FormElicitation
	var err error
	if with.Kind == urlmode.Input {
		request := urlmode.InputRequest{Provider: with.Provider, Owner: owner, VerifyTimeout: ms(with.VerifyTimeout), RequestOptions: urlmode.RequestOptions{TTL: ms(with.TTL), ID: with.ID, Exclusive: with.Exclusive, ResumeKey: with.ResumeKey, About: with.About, ClientID: with.ClientID, SameClient: with.SameClient}}
		if err := json.Unmarshal(with.Form, &request.Form); err != nil {
			return nil, err
		}
		made, err = d.instance.CreateInput(ctx, request)
	} else {
		request := urlmode.ApprovalRequest{Provider: with.Provider, Owner: owner, Others: string(with.Approver) == `"others"`, RequestOptions: urlmode.RequestOptions{TTL: ms(with.TTL), ID: with.ID, Exclusive: with.Exclusive, ResumeKey: with.ResumeKey, About: with.About, ClientID: with.ClientID, SameClient: with.SameClient}}
		if err := json.Unmarshal(with.Form, &request.Form); err != nil {
			return nil, err
		}
		if with.Approver != nil && with.Approver[0] == '[' {
			if err := json.Unmarshal(with.Approver, &request.Approvers); err != nil {
				return nil, err
			}
		}
		made, err = d.instance.CreateApproval(ctx, request)
	}
	told := members{"elicitation_id": made.ElicitationID, "resumed": made.Resumed}
	if made.URL != "" {
		told["url"] = made.URL
	} else {
		told["approval_url"] = made.ApprovalURL
	}
	return told, err
}

func payment(of urlmode.ProvenPayment, more members) members {
	told := members{"elicitation_id": of.ElicitationID, "provider": of.Provider, "subject": of.Owner.Subject, "session": of.Owner.Session,
		"reference": of.Reference, "amount": of.Amount, "currency": of.Currency, "matches": of.Matches}
	for name, value := range more {
		told[name] = value
	}
	return told
}

func refund(of urlmode.Refund) members {
	told := members{"elicitation_id": of.ElicitationID, "item": of.Item, "amount": of.Amount, "reversed": of.Reversed}
	if of.Payment != nil {
		told["payment"] = members{"reference": of.Payment.Reference, "refunded": of.Payment.Refunded,
			"held": of.Payment.Held, "claimed": of.Payment.Claimed}
	}
	return told
}

func (d *driver) wait(ctx context.Context, number int, with given, owner urlmode.Owner) (any, error) {
	options := urlmode.WaitOptions{
		Abandon:  with.Abandon,
		Progress: func(progress urlmode.Progress) { say(members{"id": number, "progress": progress}) },
	}
	if with.Timeout != nil && *with.Timeout == 0 {
		options.Once = true
	} else if with.Timeout != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ms(*with.Timeout))
		defer cancel()
	}
	if with.Recheck != nil {
		options.Recheck = func(ctx context.Context, event urlmode.Recheck) (*urlmode.Answer, error) {
			// One recheck at a time is asked.
			asked := make(chan given, 1)
			d.mu.Lock()
			d.asked[number] = asked
			d.mu.Unlock()
			say(members{"id": number, "recheck": members{"elicitation_id": event.ElicitationID, "provider": event.Provider, "type": event.Type, "references": event.References,
				"expected": members{"amount": event.Expected.Amount, "currency": event.Expected.Currency}}})
			with, err := d.answered(ctx, with.Recheck, asked)
			if err != nil || with == nil {
				return nil, err
			}
			said, err := with.answer()
			return &said, err
		}
	}
	if right := with.Verify; right != nil {
		options.Verify = func(_ context.Context, typed urlmode.Typed) (*urlmode.Problem, error) {
			say(members{"id": number, "verify": members{"elicitation_id": typed.ElicitationID}})
			if typed.Values[right.Field] == right.Value {
				return nil, nil
			}
			return &urlmode.Problem{Field: right.Field, Problem: right.Problem}, nil
		}
	}
	outcome, err := d.instance.WaitWith(ctx, with.ElicitationID, owner, options)
	return members{"elicitation_id": outcome.ElicitationID, "action": outcome.Action, "reason": outcome.Reason,
		"result": outcome.Result, "late": outcome.Late, "interrupted": outcome.Interrupted, "reference": outcome.Reference,
		"amount": outcome.Amount, "currency": outcome.Currency, "tax": outcome.Tax, "expected": outcome.Expected,
		"refunded": outcome.Refunded, "refunded_amount": outcome.RefundedAmount, "code_verifier": outcome.CodeVerifier,
		"nonce": outcome.Nonce, "approver": outcome.Approver, "comment": outcome.Comment, "decided_at": outcome.DecidedAt}, err
}

var errFailed = errors.New("the provider cannot be asked")

// answered is what a recheck answers: what the wait was given, or what a later request says.
func (d *driver) answered(ctx context.Context, recheck json.RawMessage, asked <-chan given) (*answer, error) {
	if string(recheck) != `"asks"` {
		var said answer
		return &said, json.Unmarshal(recheck, &said)
	}
	select {
	case with := <-asked:
		if with.Error != "" {
			return nil, errFailed
		}
		return with.Answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reuseOf is a number of seconds, "never" or nothing.
func reuseOf(said any) time.Duration {
	switch said := said.(type) {
	case float64:
		return time.Duration(said * float64(time.Second))
	case string:
		return vault.NeverReused
	}
	return 0
}

func told(err error) members {
	var own *urlmode.Error
	var account *urlmode.AccountError
	var refused *pgconn.PgError
	said := members{"message": err.Error()}
	switch {
	case errors.As(err, &account):
		said["code"], said["reason"] = account.Code, account.Reason
	case errors.As(err, &own):
		said["code"], said["status"] = own.Code, own.Status
	case errors.Is(err, urlmode.ErrUnclaimedPayments):
		said["code"] = "UNCLAIMED_PAYMENTS"
	case errors.Is(err, urlmode.ErrArgument):
		said["code"] = "ARGUMENT"
	case errors.Is(err, errFailed):
		said["code"] = "FAILED"
	case errors.Is(err, context.Canceled):
		said["code"] = "STOPPED"
	case errors.As(err, &refused):
		said["code"] = "DATABASE"
	}
	return said
}

// inShort tells a long text by its size.
func inShort(result json.RawMessage) any {
	var text string
	if len(result) > 1_000 && json.Unmarshal(result, &text) == nil {
		return members{"of_size": len(text)}
	}
	return result
}

// inFull is a text of the size that is told.
func inFull(result json.RawMessage) any {
	var told struct {
		Size int `json:"of_size"`
	}
	if json.Unmarshal(result, &told) == nil && told.Size > 0 {
		return strings.Repeat("x", told.Size)
	}
	return result
}

func main() {
	var settings struct {
		Listen *bool  `json:"listen"`
		Tenant string `json:"tenant"`
	}
	if text := os.Getenv("SETTINGS"); text != "" {
		if err := json.Unmarshal([]byte(text), &settings); err != nil {
			panic(err)
		}
	}
	instance, err := urlmode.New(context.Background(), urlmode.Config{
		DatabaseURL: os.Getenv("URLMODE_DATABASE_URL"), KeysFile: os.Getenv("URLMODE_KEYS_FILE"), BaseURL: os.Getenv("URLMODE_BASE_URL"),
		Tenant: settings.Tenant, NoListen: settings.Listen != nil && !*settings.Listen,
	})
	if err != nil {
		panic(err)
	}
	d := &driver{instance: instance, stops: map[int]context.CancelFunc{}, claims: map[int]*urlmode.Claim{}, asked: map[int]chan given{}}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var request struct {
			ID   int    `json:"id"`
			Do   string `json:"do"`
			With given  `json:"with"`
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			panic(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		d.mu.Lock()
		d.stops[request.ID] = stop
		d.mu.Unlock()
		go func() {
			answer, err := d.run(ctx, request.ID, request.Do, request.With)
			// Nothing of a call is kept after its end: make soak measures this process.
			stop()
			d.mu.Lock()
			delete(d.stops, request.ID)
			d.mu.Unlock()
			if err != nil {
				say(members{"id": request.ID, "error": told(err)})
				return
			}
			say(members{"id": request.ID, "answer": answer})
		}()
	}
	if err := instance.Close(); err != nil {
		panic(err)
	}
}
