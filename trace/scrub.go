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
	known   []string // longest first, so that one inside another leaves nothing behind
	anchors *anchors // of the forms and the known values
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
	all := anchorsOfForms()
	for _, secret := range s.known {
		all = append(all, anchor{text: secret, owner: knownValue})
	}
	s.anchors = newAnchors(all)
	return s
}

// knownValue owns the values of the configuration among the anchors.
const knownValue = 63

// Replacement stands where a secret was.
const Replacement = "[secret]"

// form is how a kind of secret looks. A text without any of the anchors is not searched
// with the expression: looking for a few letters costs a hundredth of it. Anchors that stand
// in ordinary prose as well ("broken", "basic", addresses) have a look at what follows them
// first, which must let through all that the expression would find.
type form struct {
	anchors []string
	re      *regexp.Regexp
	near    func(text string, end int) bool // of an anchor that ends there; nil: always
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
	{"PRIVATE KEY", `-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?:[^"\\]|\\[^"])*?-----END [A-Z ]*PRIVATE KEY-----|(?:[^"\\]|\\[^"])*)`},
	{"://", `\b[a-z][a-z0-9+.-]{1,20}://(?P<s>[^\s/@:"\\<>]*:[^\s/@"\\<>]+)@`},
	{"earer ", `\b[Bb]earer (?P<s>[0-9A-Za-z._~+/=-]{8,})`},
	{"asic ", `\b[Bb]asic (?P<s>[0-9A-Za-z+/]{12,}={0,2})`},
	{"assw", secretField(`passw(?:or)?d`)},
	{"pwd", secretField(`pwd`)},
	{"ecret", secretField(`secret(?:[_-]?key)?`)},
	{"oken", secretField(`token`)},
	{"_key|-key|ikey|skey|tkey|ekey|nkey", secretField(`(?:api|access|account|private|subscription)[_-]?key`)},
	{"secret_", secretField(`secret_[a-z]{1,10}`)},
	{"ookie:", `\b[Cc]ookie: ?(?P<s>[^"\\\r\n]{8,})`},
})

// secretField is a name that says secret, then = or :, then a value without blanks that is
// no plain word of a sentence.
func secretField(name string) string {
	return `\b(?i:[a-z_-]{0,30}` + name + `)(?:\\?["'])?\s{0,3}[:=]\s{0,3}(?:\\?["'])?(?P<s>[^\s"'\\,;&)<>]{6,})`
}

// onlyForms is what a nil Scrubber looks for.
var onlyForms = newAnchors(anchorsOfForms())

func anchorsOfForms() (all []anchor) {
	for i, f := range forms {
		for _, text := range f.anchors {
			all = append(all, anchor{text, i, strings.Contains(f.re.String(), "(?i:")})
		}
	}
	return all
}

func compile(list [][2]string) []form {
	out := make([]form, len(list))
	for i, f := range list {
		re := regexp.MustCompile(f[1])
		out[i] = form{strings.Split(f[0], "|"), re, nearOf(f[0], re)}
	}
	return out
}

// nearOf chooses the look at what follows an anchor.
func nearOf(anchor string, re *regexp.Regexp) func(text string, end int) bool {
	switch {
	case anchor == "://":
		return credentialsFollow
	case anchor == "earer ":
		return func(text string, end int) bool { return tokenFollows(text, end, 8) }
	case anchor == "asic ":
		return func(text string, end int) bool { return tokenFollows(text, end, 12) }
	case strings.Contains(re.String(), `[:=]`):
		rest := restOf(anchor)
		return func(text string, end int) bool {
			return rest(text, end) && re.MatchString(text[max(0, end-namedBefore):min(len(text), end+namedAfter)])
		}
	}
	return nil
}

// restOf returns the look at whether the rest of a name that says secret follows an anchor, and
// an assignment that: "tokens":0 has an anchor and is none.
func restOf(anchor string) func(text string, end int) bool {
	if anchor == "secret_" {
		return func(text string, end int) bool {
			for most := end + 10; end < len(text) && end < most && letterByte(text[end]); end++ {
			}
			return assignmentFollows(text, end)
		}
	}
	rests := nameRests[anchor]
	return func(text string, end int) bool {
		if assignmentFollows(text, end) {
			return true
		}
		for _, rest := range rests {
			if to := end + len(rest); to <= len(text) && strings.EqualFold(text[end:to], rest) && assignmentFollows(text, to) {
				return true
			}
		}
		return false
	}
}

// nameRests are what may stand between an anchor and the assignment, where something may.
var nameRests = map[string][]string{"assw": {"ord", "d"}, "ecret": {"key", "_key", "-key"}}

// credentialsFollow reports whether the address that begins at end may hold a name and a
// password: an @ before its path.
func credentialsFollow(text string, end int) bool {
	for ; end < len(text); end++ {
		switch text[end] {
		case '@':
			return true
		case ' ', '\t', '\n', '\r', '\f', '\v', '/', '"', '\\', '<', '>':
			return false
		}
	}
	return false
}

// tokenFollows reports whether so many bytes of a token follow.
func tokenFollows(text string, end, least int) bool {
	if len(text)-end < least {
		return false
	}
	for _, c := range []byte(text[end : end+least]) {
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("._~+/=-", c) >= 0) {
			return false
		}
	}
	return true
}

// assignmentFollows reports whether a name that ends there is followed by = or :, perhaps after
// a quotation mark and blanks.
func assignmentFollows(text string, end int) bool {
	for _, c := range []string{"\\", "\"'"} { // \?["']
		if end < len(text) && strings.IndexByte(c, text[end]) >= 0 {
			end++
		}
	}
	for range 3 {
		if end < len(text) && strings.IndexByte(" \t\n\r\f\v", text[end]) >= 0 {
			end++
		}
	}
	return end < len(text) && (text[end] == ':' || text[end] == '=')
}

// A name that says secret begins so many bytes before the end of its anchor at most, and the
// first six bytes of its value end so many after it.
const (
	namedBefore = 64
	namedAfter  = 64
)

func letterByte(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// near asks a form about an anchor of its own.
func near(owner int, text string, end int) bool {
	if owner == knownValue {
		return true
	}
	f := forms[owner].near
	return f == nil || f(text, end)
}

// Text returns the text without secrets. One without any is returned as it is.
func (s *Scrubber) Text(text string) string {
	anchors := onlyForms
	if s != nil {
		anchors = s.anchors
	}
	found := anchors.in(text, near)
	if found&(1<<knownValue) != 0 {
		for _, secret := range s.known {
			text = strings.ReplaceAll(text, secret, Replacement)
		}
	}
	for found &^= 1 << knownValue; found != 0; found &= found - 1 {
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
