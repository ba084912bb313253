package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	quotedToken
	signToken
)

type exprToken struct {
	kind tokenKind
	text string
	at   int
}

// is reports whether the token is this key word (in any case) or sign; a quoted
// text never is.
func (t exprToken) is(word string) bool {
	return (t.kind == wordToken || t.kind == signToken) && strings.EqualFold(t.text, word)
}

// scanExpr splits EXPR into tokens, the last of which is the end.
func scanExpr(text string) ([]exprToken, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("filter: expression is not UTF-8: %w", ErrSchema)
	}
	var out []exprToken
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			i += n
			continue
		case r == '"':
			s, end, err := scanQuoted(text, i)
			if err != nil {
				return nil, err
			}
			out = append(out, exprToken{quotedToken, s, i})
			i = end
			continue
		case strings.ContainsRune("(),", r):
			out = append(out, exprToken{signToken, text[i : i+n], i})
		case strings.ContainsRune("=<>!", r):
			if i+1 < len(text) && text[i+1] == '=' {
				n++
			}
			if text[i:i+n] == "!" {
				return nil, fmt.Errorf("filter: %q at character %d: want !=: %w", "!", i+1, ErrSchema)
			}
			out = append(out, exprToken{signToken, strings.Replace(text[i:i+n], "==", "=", 1), i})
		default:
			n = strings.IndexFunc(text[i:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`(),=<>!"`, r) })
			if n < 0 {
				n = len(text) - i
			}
			out = append(out, exprToken{wordToken, text[i : i+n], i})
		}
		i += n
	}
	return append(out, exprToken{endToken, "", len(text)}), nil
}

func scanQuoted(text string, start int) (string, int, error) {
	var b strings.Builder
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), i + 1, nil
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, fmt.Errorf("filter: quote at character %d is not closed: %w", start+1, ErrSchema)
}
