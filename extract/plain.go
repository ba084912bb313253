package extract

import (
	"context"
	"fmt"
	"strings"

	"github.com/sextant-rag/sextant"
)

// partLines is the least number of bytes of a part of a plain text: a place of a few
// lines is exact enough to find a quote and keeps the parts of a long text few.
const partLines = 600

// readPlain reads text without any markup. Its lines stay as they are, and parts of
// some lines each give their numbers.
func readPlain(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	text = cleanCode(text)
	lead := len(text) - len(strings.TrimLeft(text, "\n"))
	text = strings.Trim(text, "\n")
	if in.left.text -= int64(len(text)); in.left.text < 0 {
		return Text{}, &Refusal{Code: TooLarge, Reason: fmt.Sprintf("its text is over the limit of %d bytes", in.limits.Text)}
	}
	return Text{Format: FormatText, Text: text, Parts: lineParts(text, 1+lead), Properties: properties, Warnings: warnings}, nil
}

// lineParts cuts a text into parts of whole lines, at blank lines where there are any.
func lineParts(text string, number int) []sextant.Part {
	var parts []sextant.Part
	start, first, at := 0, number, 0
	flush := func() {
		end := at
		for end > start && text[end-1] == '\n' {
			end--
		}
		if end > start {
			parts = append(parts, sextant.Part{Kind: KindLines, Locator: lineRange(first, number-1), Start: start, End: end})
		}
	}
	for line := range strings.Lines(text) {
		blank := line == "\n"
		if at > start && (blank && at-start >= partLines || at-start >= 4*partLines) {
			flush()
			start, first = at, number
		}
		at += len(line)
		number++
		if blank && strings.TrimSpace(text[start:at]) == "" {
			start, first = at, number
		}
	}
	flush()
	return parts
}

func lineRange(first, last int) string {
	if first >= last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d-%d", first, last)
}
