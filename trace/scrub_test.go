package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sextant-rag/sextant/trace"
	"github.com/sextant-rag/sextant/trace/tracetest"
)

// canaries are texts with a secret in them, each of another kind. The part in ⟦⟧ must not
// be kept. None is real.
var canaries = []string{
	"key ⟦AKIAIOSFODNN7CANARY0⟧ in a note",
	"⟦ASIAIOSFODNN7CANARY0⟧",
	"⟦ghp_16C7e42F292c6912E7710c838347Ae178B4a⟧",
	"⟦gho_16C7e42F292c6912E7710c838347Ae178B4a⟧",
	"⟦ghs_16C7e42F292c6912E7710c838347Ae178B4a⟧",
	"⟦github_pat_11AAAAAAA0aBcDeFgHiJkL_mNoPqRsTuV⟧",
	"⟦glpat-AbCdEfGhIjKlMnOpQrSt⟧",
	"⟦xoxb-123456789012-abcdefABCDEF⟧",
	"https://⟦hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX⟧",
	"⟦sk_live_4eC39HqLyjWDarjtT1zdp7dc⟧",
	"⟦rk_test_4eC39HqLyjWDarjtT1zdp7dc⟧",
	"⟦sk-proj-abcdefghijklmnopqrstuvwxyz012345⟧",
	"⟦sk-ant-api03-abcdefghijklmnopqrstuvwxyz⟧",
	"⟦AIzaSyA-abcdefghijklmnopqrstuvwxyz01234⟧",
	"⟦ya29.a0AfH6SMBxxxxxxxxxxxxxxxxxxxx⟧",
	"⟦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl⟧",
	"⟦npm_abcdefghijklmnopqrstuvwxyz0123456789⟧",
	"⟦pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw⟧",
	"⟦hf_abcdefghijklmnopqrstuvwxyzABCDEF⟧",
	"⟦SG.abcdefghijklmnopqrst.uvwxyzABCDEFGHIJKLMNOP⟧",
	"⟦dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef⟧",
	"DefaultEndpointsProtocol=https;AccountKey=⟦Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6⟧==",
	"https://x.blob.example/c?se=1&sig=⟦abcdefghijklmnopqrstuvwxyz%3D⟧",
	"⟦-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----⟧",
	"⟦-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk⟧",
	"postgres://⟦admin:hunter2hunter2⟧@db.example/prod",
	"http://⟦mlflow:pa55word⟧@tracking.example:5000",
	"Authorization: Bearer ⟦abcdef0123456789⟧",
	"authorization: basic ⟦dXNlcjpwYXNzd29yZA==⟧",
	"password: ⟦correcthorse⟧",
	`{"password": "⟦correcthorse⟧"}`,
	"pwd=⟦correcthorse⟧;",
	"client_secret=⟦8f14e45fceea167a⟧",
	"the secret: ⟦8f14e45fceea167a⟧",
	"access_token=⟦8f14e45fceea167a⟧&x=1",
	"api_key: ⟦8f14e45fceea167a⟧",
	"X-Api-Key: ⟦8f14e45fceea167a⟧",
	"export DB_PASSWORD=⟦correcthorse⟧",
	"export SLACK_TOKEN=⟦8f14e45fceea167a⟧",
	"export SOME_API_KEY='⟦8f14e45fceea167a⟧'",
	"Cookie: ⟦session=8f14e45fceea167a; other=1⟧",
	"refresh_token: ⟦8f14e45fceea167a⟧",
}

// cut returns a canary's text and the secret in it.
func cut(canary string) (text, secret string) {
	_, rest, _ := strings.Cut(canary, "⟦")
	secret, _, _ = strings.Cut(rest, "⟧")
	return strings.NewReplacer("⟦", "", "⟧", "").Replace(canary), secret
}

// Secrets in documents, questions, errors, attributes and exchanges are kept nowhere in a
// trace, and the trace stays readable.
func TestNoSecretIsKept(t *testing.T) {
	for i, canary := range canaries {
		text, secret := cut(canary)
		sink := &tracetest.Sink{}
		r := &trace.Recorder{Sink: sink, Scrub: trace.NewScrubber()}
		ctx, root := r.Open(context.Background(), "question", trace.Chain, map[string]string{"question": text})
		_, err := trace.Stage(ctx, "retrieve", trace.Retriever, nil, func(ctx context.Context) (map[string]string, error) {
			trace.Current(ctx).Set(trace.Attribute{Key: "note", Value: text})
			trace.KeepExchange(ctx, trace.Current(ctx), text, text)
			return map[string]string{"content": text}, errors.New("failed with " + text)
		})
		request, _ := json.Marshal(map[string]string{"question": text})
		root.Close(map[string]string{"summary": text}, err, trace.Summary{Question: text, Status: "answered", Request: request, Params: map[string]string{"question": text}, Assessments: []trace.Assessment{{Name: "a", Value: text, Rationale: text}}})
		got := sink.Records()[0]
		encoded, err := json.Marshal(got.View())
		if err != nil {
			t.Fatalf("%d %s: the trace is no JSON any more: %v", i, canary, err)
		}
		all := string(encoded) + fmt.Sprint(got.Spans) + fmt.Sprint(got.Summary) + string(got.Exchanges[0].Request) + string(got.Exchanges[0].Response)
		for _, part := range strings.Split(secret, "\n") {
			if strings.Contains(all, part) {
				t.Errorf("%d: %q is kept:\n%s", i, part, all)
			}
		}
	}
	if len(canaries) < 40 {
		t.Errorf("%d kinds", len(canaries))
	}
}

func TestSecretsOfTheConfigurationAreKnownByTheirValue(t *testing.T) {
	s := trace.NewScrubber("plain-looking", "plain-looking-longer", "abc", "")
	if got := s.Text("it said plain-looking-longer, plain-looking and abc"); got != "it said [secret], [secret] and abc" {
		t.Error(got)
	}
}

// What reports say must stay as it is.
func TestOrdinaryTextIsNotTouched(t *testing.T) {
	for _, text := range []string{
		"The pilot's secret was safe: nobody asked.",
		"N123AB, 14 CFR 135.293(a), ERA22LA001, PA-28-161, https://data.ntsb.gov/carol-main-public/basic-search",
		"Tokens of appreciation; the key: a landing on runway 17. Password protected doors.",
		"The airport's key findings: fuel exhaustion, mast bumping and basic training of the bearer.",
		"He pressed the KEY and the radio came alive. ASIA, sk-8, task-oriented, eyJ.",
		"state = AK and event_date >= 2010-01-01",
	} {
		if got := trace.NewScrubber().Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// One pass finds what looking for each would.
func TestAnchors(t *testing.T) {
	list := []string{"her", "she", "his", "hers", "sk-", "-k-", "sss", "hers"}
	a := trace.NewAnchors(list)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("hersik-é")), 0, 20, -1).Draw(t, "text")
		var want uint64
		for i, s := range list {
			if strings.Contains(text, s) {
				want |= 1 << i
			}
		}
		if got := a.In(text); got != want {
			t.Fatalf("%q: %b, want %b", text, got, want)
		}
	})
}

func FuzzScrubber(f *testing.F) {
	for _, c := range canaries {
		text, _ := cut(c)
		f.Add(text)
	}
	s := trace.NewScrubber("a-known-value")
	f.Fuzz(func(t *testing.T, text string) {
		encoded, err := json.Marshal(text)
		if err != nil {
			return
		}
		scrubbed := s.Text(string(encoded))
		if want := strings.ReplaceAll(trace.EveryForm(strings.ReplaceAll(string(encoded), "a-known-value", trace.Replacement)), trace.Replacement, "*"); strings.ReplaceAll(scrubbed, trace.Replacement, "*") != want {
			t.Errorf("%s became %s, and %s where every form is tried", encoded, scrubbed, want)
		}
		if !json.Valid([]byte(scrubbed)) {
			t.Errorf("%s became %s, which is no JSON", encoded, scrubbed)
		}
		if again := s.Text(scrubbed); again != scrubbed && len(again) > len(scrubbed) {
			t.Errorf("scrubbing again makes it longer: %s, %s", scrubbed, again)
		}
	})
}

func BenchmarkScrub(b *testing.B) {
	text := strings.Repeat("The pilot reported that the engine lost power during the initial climb out and that he landed in a field. ", 600)
	s := trace.NewScrubber("a-known-value", "another-known-value")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s.Text(text)
	}
}
