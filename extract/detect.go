package extract

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// detect finds out what a file is, from its content. Where text can be several things
// (notes can look like Markdown, a list of names like CSV), the ending of the name decides.
func detect(in *input) (Format, error) {
	head, err := in.head(64 << 10)
	if err != nil {
		return "", err
	}
	ending := endingOf(in.name)
	format, err := byMagic(in, head)
	if err != nil || format != "" {
		return format, mislabelled(in, ending, format, err)
	}
	text, _, _ := decode(trimPartial(head, in.size), "")
	if isBinary(text) {
		return "", &Refusal{Code: Unsupported, Reason: "it is no text and no known kind of file"}
	}
	return textFormat(text, ending, int64(len(head)) == in.size), nil
}

// endingOf returns the ending of a file name in lower case without its dot. The ending
// of a compressed file is that of what is in it.
func endingOf(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimSuffix(name, ".gz")
	return strings.TrimPrefix(path.Ext(strings.ReplaceAll(name, `\`, "/")), ".")
}

// trimPartial drops a character that the end of a sample cut through.
func trimPartial(head []byte, size int64) []byte {
	if int64(len(head)) == size {
		return head
	}
	for i := 1; i <= utf8.UTFMax && i < len(head); i++ {
		if c := head[len(head)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(head[len(head)-i:]) {
				return head[:len(head)-i]
			}
			break
		}
	}
	return head
}

// magic is what known files begin with, and what to say of those that are not read.
var magic = []struct {
	prefix string
	format Format
	reason string
}{
	{"\x1f\x8b", FormatGzip, ""},
	{"{\\rtf", "", "it is a rich-text file (RTF)"},
	{"\x89PNG", "", "it is a picture (PNG)"},
	{"\xff\xd8\xff", "", "it is a picture (JPEG)"},
	{"GIF8", "", "it is a picture (GIF)"},
	{"II*\x00", "", "it is a picture (TIFF)"},
	{"MM\x00*", "", "it is a picture (TIFF)"},
	{"ID3", "", "it is a sound file"},
	{"OggS", "", "it is a sound or video file"},
	{"RIFF", "", "it is a picture, sound or video file (RIFF)"},
	{"\x7fELF", "", "it is a program"},
	{"BZh", "", "it is compressed (bzip2)"},
	{"\xfd7zXZ\x00", "", "it is compressed (xz)"},
	{"\x28\xb5\x2f\xfd", "", "it is compressed (zstd)"},
	{"7z\xbc\xaf\x27\x1c", "", "it is an archive (7z)"},
	{"Rar!\x1a\x07", "", "it is an archive (RAR)"},
	{"SQLite format 3\x00", "", "it is a database (SQLite)"},
	{"PAR1", "", "it is a table in Parquet format"},
	{"%!PS", "", "it is a PostScript file"},
	{"!BDN", "", "it is an Outlook folder (PST)"},
}

func byMagic(in *input, head []byte) (Format, error) {
	if i := bytes.Index(head[:min(len(head), 1024+5)], []byte("%PDF-")); i >= 0 {
		return FormatPDF, nil
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) {
		return zipFormat(in)
	}
	if bytes.HasPrefix(head, oleMagic) {
		return "", oleRefusal(in)
	}
	for _, m := range magic {
		if !bytes.HasPrefix(head, []byte(m.prefix)) {
			continue
		}
		if m.format != "" {
			return m.format, nil
		}
		return "", &Refusal{Code: Unsupported, Reason: m.reason + ", which is not read", Hint: hintFor(m.prefix)}
	}
	if len(head) > 12 && string(head[4:8]) == "ftyp" {
		return "", &Refusal{Code: Unsupported, Reason: "it is a picture, sound or video file (MP4), which is not read"}
	}
	return "", nil
}

func hintFor(prefix string) string {
	switch prefix {
	case "{\\rtf", "%!PS":
		return "Save it as DOCX or PDF."
	case "BZh", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "7z\xbc\xaf\x27\x1c", "Rar!\x1a\x07":
		return "Unpack it first."
	case "PAR1", "SQLite format 3\x00":
		return "Export it as CSV."
	case "\x89PNG", "\xff\xd8\xff", "GIF8", "II*\x00", "MM\x00*":
		return "Run text recognition (OCR) over it first."
	}
	return ""
}

// mislabelled notes that a name says something else than the content.
func mislabelled(in *input, ending string, format Format, err error) error {
	if err != nil || format == FormatGzip {
		return err
	}
	usual, known := endings[ending]
	if known && usual != format {
		in.warnings = append(in.warnings, fmt.Sprintf("It is called .%s, but is %s.", ending, format))
	}
	return nil
}

// endings says what files of a name usually are.
var endings = map[string]Format{
	"txt": FormatText, "text": FormatText, "log": FormatText,
	"md": FormatMarkdown, "markdown": FormatMarkdown, "mdown": FormatMarkdown, "mkd": FormatMarkdown, "qmd": FormatMarkdown, "rmd": FormatMarkdown,
	"adoc": FormatAsciiDoc, "asciidoc": FormatAsciiDoc, "asc": FormatAsciiDoc,
	"html": FormatHTML, "htm": FormatHTML, "xhtml": FormatHTML, "shtml": FormatHTML,
	"xml": FormatXML, "csv": FormatCSV, "tsv": FormatCSV, "tab": FormatCSV, "psv": FormatCSV,
	"json": FormatJSON, "geojson": FormatJSON, "jsonl": FormatJSONL, "ndjson": FormatJSONL, "ipynb": FormatNotebook,
	"vtt": FormatSubtitle, "srt": FormatSubtitle, "eml": FormatEmail, "mht": FormatEmail, "mhtml": FormatEmail,
	"pdf": FormatPDF, "docx": FormatDOCX, "docm": FormatDOCX, "dotx": FormatDOCX,
	"xlsx": FormatXLSX, "xlsm": FormatXLSX, "pptx": FormatPPTX, "pptm": FormatPPTX, "ppsx": FormatPPTX,
	"odt": FormatODT, "epub": FormatEPUB,
}

// isBinary reports whether decoded text has more than a few characters that no text has.
// Zeros at its end are what a write that was cut off leaves.
func isBinary(text string) bool {
	if trimmed := strings.TrimRight(text, "\x00"); trimmed != "" {
		text = trimmed
	}
	odd, zeros, n := 0, 0, 0
	for _, r := range text {
		n++
		switch {
		case r == 0:
			zeros++
		case r == utf8.RuneError || r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b\x1a", r):
			odd++
		}
	}
	return odd*20 > n || zeros*10 > n
}

var (
	htmlStart = regexp.MustCompile(`(?is)^(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)[\s>]`)
	htmlTag   = regexp.MustCompile(`(?i)<(p|div|table|h[1-6]|ul|ol|article|section|main|span|br|a)(\s[^<>]*)?/?>`)
	xmlStart  = regexp.MustCompile(`(?s)^(<\?xml\s|<!DOCTYPE\s|<[A-Za-z_][\w.:-]*(\s[^<>]*)?/?>)`)
	mailField = regexp.MustCompile(`(?i)^(from|to|cc|date|subject|message-id|mime-version|received|return-path|delivered-to|content-type|content-transfer-encoding|reply-to|x-[\w-]+|dkim-signature|list-[a-z-]+|sender|in-reply-to|references|arc-[a-z-]+|authentication-results|thread-[a-z]+|importance|user-agent):`)
)

// textFormat tells the formats that are text apart. whole says that the sample is all.
func textFormat(text, ending string, whole bool) Format {
	trimmed := strings.TrimLeft(text, "\ufeff \t\r\n")
	named := endings[ending]
	switch {
	case strings.HasPrefix(trimmed, "WEBVTT"):
		return FormatSubtitle
	case htmlStart.MatchString(trimmed):
		return FormatHTML
	case looksLikeMail(trimmed):
		return FormatEmail
	case named == FormatSubtitle && strings.Contains(text, "-->"):
		return FormatSubtitle
	case slices.Contains([]Format{FormatText, FormatMarkdown, FormatAsciiDoc, FormatCSV, FormatHTML}, named):
		return named
	case strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "["):
		if f := jsonFormat(trimmed, named, whole); f != "" {
			return f
		}
	case strings.HasPrefix(trimmed, "<"):
		if len(htmlTag.FindAllString(text, 3)) >= 3 && !strings.HasPrefix(trimmed, "<?xml") && named != FormatXML {
			return FormatHTML
		}
		if xmlStart.MatchString(trimmed) {
			return FormatXML
		}
	}
	if named == FormatJSON || named == FormatJSONL {
		return named
	}
	return FormatText
}

// looksLikeMail reports whether a text begins with fields of a message. Two known ones
// are asked for, as any text may begin with "Subject:".
func looksLikeMail(text string) bool {
	known := 0
	for i, line := range strings.SplitN(text, "\n", 60) {
		line = strings.TrimRight(line, "\r")
		switch {
		case i == 0 && strings.HasPrefix(line, "From "): // the first line in a mailbox
		case line == "":
			return known >= 2
		case mailField.MatchString(line):
			known++
		case line[0] == ' ' || line[0] == '\t':
		case !strings.Contains(line, ":"):
			return false
		}
	}
	return known >= 4
}
