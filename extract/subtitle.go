package extract

import (
	"context"
	"regexp"
	"strings"
)

var (
	cueTime  = regexp.MustCompile(`^\s*(?:(\d{1,3}):)?(\d{2}):(\d{2})[.,]\d{1,3}\s+-->\s`)
	cueVoice = regexp.MustCompile(`<v(?:\.[^\s>]*)?\s+([^>]*)>`)
	cueTag   = regexp.MustCompile(`</?[a-zA-Z0-9][^>]*>`)
	digitsIn = regexp.MustCompile(`^\d+$`)
)

// readSubtitle reads WebVTT and SubRip: what is said, each piece with its time.
func readSubtitle(ctx context.Context, in *input) (Text, error) {
	text, properties, warnings, err := in.decoded(ctx)
	if err != nil {
		return Text{}, err
	}
	w := newWriter(in)
	w.sections = false
	var at string
	var cue []string
	flush := func() {
		line := cleanLines(cueTag.ReplaceAllString(cueVoice.ReplaceAllString(strings.Join(cue, "\n"), "$1: "), ""))
		cue = nil
		if at == "" || line == "" {
			return
		}
		start, end := w.write(blockItem, line)
		w.part(KindCue, at, start, end)
	}
	lines := strings.Split(lineBreaks.Replace(text), "\n")
	skipping := false
	for i, line := range lines {
		if i%4096 == 0 && ctx.Err() != nil {
			return Text{}, ctx.Err()
		}
		if g := cueTime.FindStringSubmatch(line); g != nil {
			flush()
			if at = g[1] + ":" + g[2] + ":" + g[3]; g[1] == "" {
				at = "00" + at
			}
			skipping = false
			continue
		}
		switch {
		case strings.TrimSpace(line) == "":
			flush()
			at, skipping = "", false
		case strings.HasPrefix(line, "NOTE") || strings.HasPrefix(line, "STYLE") || strings.HasPrefix(line, "REGION") || strings.HasPrefix(line, "WEBVTT"):
			skipping = at == ""
		case !skipping && at != "" && !(digitsIn.MatchString(strings.TrimSpace(line)) && i+1 < len(lines) && cueTime.MatchString(lines[i+1])):
			cue = append(cue, unescapeHTML(line))
		}
	}
	flush()
	t := Text{Format: FormatSubtitle, Properties: properties, Warnings: warnings}
	t.Text, t.Parts, err = w.result()
	return t, err
}
