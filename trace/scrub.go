package trace

import (
	"cmp"
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// Scrubber takes secrets out of text before it is kept: those of the configuration, by
// their values, and what looks like one in documents, questions and errors, by its form.
// A nil Scrubber only knows forms. It is immutable and safe for concurrent use.
type Scrubber struct {
	known []string // longest first, so that one inside another leaves nothing behind
}

// shortest secret that is looked for by its value: a shorter one would be found in
// innocent words.
const shortestSecret = 6

// NewScrubber makes a scrubber that knows the values of secrets.
func NewScrubber(secrets ...string) *Scrubber {
	s := &Scrubber{}
	for _, secret := range secrets {
		if len(secret) >= shortestSecret && !slices.Contains(s.known, secret) {
			s.known = append(s.known, secret)
		}
	}
	slices.SortFunc(s.known, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return s
}

// Replacement stands where a secret was.
const Replacement = "[secret]"

// form is how a kind of secret looks. A text without any of the anchors is not searched
// with the expression: looking for a few letters costs a hundredth of it. Anchors must be
// rare in ordinary prose.
type form struct {
	anchors []string
	re      *regexp.Regexp
}

// forms are the published formats of keys of common services, and what stands beside a
// name that says secret. No expression matches a quote or a backslash, so that JSON stays
// JSON. The named group, where there is one, is what is replaced.
var forms = compile([][2]string{
	{"AKIA", `\bAKIA[0-9A-Z]{16}\b`},
	{"ASIA", `\bASIA[0-9A-Z]{16}\b`},
	{"ghp_|gho_|ghu_|ghs_|ghr_", `\bgh[pousr]_[0-9A-Za-z]{20,}`},
	{"github_pat_", `\bgithub_pat_[0-9A-Za-z_]{20,}`},
	{"glpat-", `\bglpat-[0-9A-Za-z_-]{16,}`},
	{"xoxb-|xoxa-|xoxp-|xoxr-|xoxs-", `\bxox[abprs]-[0-9A-Za-z-]{10,}`},
	{"hooks.slack.com", `hooks\.slack\.com/services/[0-9A-Za-z/]{20,}`},
	{"k_live_", `\b[rsp]k_live_[0-9A-Za-z]{10,}`},
	{"k_test_", `\b[rsp]k_test_[0-9A-Za-z]{10,}`},
	{"sk-", `\bsk-[0-9A-Za-z_-]{16,}`},
	{"AIza", `\bAIza[0-9A-Za-z_-]{35}`},
	{"ya29.", `\bya29\.[0-9A-Za-z_-]{20,}`},
	{"eyJ", `\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]*`},
	{"npm_", `\bnpm_[0-9A-Za-z]{30,}`},
	{"pypi-", `\bpypi-[0-9A-Za-z_-]{40,}`},
	{"hf_", `\bhf_[0-9A-Za-z]{20,}`},
	{"SG.", `\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}`},
	{"dop_v1_", `\bdop_v1_[0-9a-f]{40,}`},
	{"AccountKey=", `AccountKey=(?P<s>[0-9A-Za-z+/=]{20,})`},
	{"sig=", `(?:[?&]|\\u0026)sig=(?P<s>[0-9A-Za-z%+/=]{20,})`},
	{"PRIVATE KEY", `-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^"]*?-----END [A-Z ]*PRIVATE KEY-----|[^"]*)`},
	{"://", `\b[a-z][a-z0-9+.-]{1,20}://(?P<s>[^\s/@:"\\<>]*:[^\s/@"\\<>]+)@`},
	{"earer ", `\b[Bb]earer (?P<s>[0-9A-Za-z._~+/=-]{8,})`},
	{"asic ", `\b[Bb]asic (?P<s>[0-9A-Za-z+/]{12,}={0,2})`},
	{"assw", secretField(`passw(?:or)?d`)},
	{"pwd", secretField(`pwd`)},
	{"ecret", secretField(`secret(?:[_-]?key)?`)},
	{"oken", secretField(`token`)},
	{"_key|-key|ikey|-Key|_Key|iKey|sKey|tKey|eKey", secretField(`(?:api|access|account|private|subscription)[_-]?key`)},
	{"PASSW", secretField(`PASSW(?:OR)?D`)},
	{"SECRET", secretField(`SECRET(?:_[A-Z]{1,10})?`)},
	{"TOKEN", secretField(`TOKEN`)},
	{"_KEY|IKEY|SKEY", secretField(`(?:API|ACCESS|PRIVATE|ACCOUNT)_?KEY`)},
	{"ookie:", `\b[Cc]ookie: ?(?P<s>[^"\\\r\n]{8,})`},
})

// secretField is a name that says secret, then = or :, then a value without blanks that is
// no plain word of a sentence.
func secretField(name string) string {
	return `\b(?i:[a-z_-]{0,30}` + name + `)(?:\\?["'])?\s{0,3}[:=]\s{0,3}(?:\\?["'])?(?P<s>[^\s"'\\,;&)<>]{6,})`
}

// anchorsOf knows the anchors of all forms.
var anchorsOf = func() *anchors {
	owners := map[string]int{}
	for i, f := range forms {
		for _, anchor := range f.anchors {
			owners[anchor] = i
		}
	}
	return newAnchors(owners)
}()

func compile(list [][2]string) []form {
	out := make([]form, len(list))
	for i, f := range list {
		out[i] = form{strings.Split(f[0], "|"), regexp.MustCompile(f[1])}
	}
	return out
}

// Text returns the text without secrets. One without any is returned as it is.
func (s *Scrubber) Text(text string) string {
	if s != nil {
		for _, secret := range s.known {
			text = strings.ReplaceAll(text, secret, Replacement)
		}
	}
	for found := anchorsOf.in(text); found != 0; found &= found - 1 {
		text = forms[bits.TrailingZeros64(found)].replace(text)
	}
	return text
}

func (f form) replace(text string) string {
	group := f.re.SubexpIndex("s")
	if group < 0 {
		return f.re.ReplaceAllString(text, Replacement)
	}
	var b strings.Builder
	end := 0
	for _, at := range f.re.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[end:at[2*group]])
		b.WriteString(Replacement)
		end = at[2*group+1]
	}
	if end == 0 {
		return text
	}
	b.WriteString(text[end:])
	return b.String()
}
