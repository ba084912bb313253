package extract

import "time"

// Format is the kind of a file, as found in its content.
type Format string

// The formats that are read.
const (
	FormatText     Format = "text"
	FormatMarkdown Format = "markdown"
	FormatAsciiDoc Format = "asciidoc"
	FormatHTML     Format = "html"
	FormatXML      Format = "xml"
	FormatCSV      Format = "csv" // any separator
	FormatJSON     Format = "json"
	FormatJSONL    Format = "jsonl"
	FormatNotebook Format = "notebook" // Jupyter
	FormatSubtitle Format = "subtitle" // WebVTT, SubRip
	FormatEmail    Format = "eml"
	FormatPDF      Format = "pdf"
	FormatDOCX     Format = "docx"
	FormatXLSX     Format = "xlsx"
	FormatPPTX     Format = "pptx"
	FormatODT      Format = "odt"
	FormatEPUB     Format = "epub"
	FormatGzip     Format = "gzip" // one compressed file of any other format
)

// Properties are what a file says of itself. All are claims; empty ones are unknown.
type Properties struct {
	Author      string
	Subject     string
	Keywords    string
	Language    string
	URL         string // canonical address of a web page
	From, To    string // of a message
	Created     time.Time
	Modified    time.Time
	Encoding    string // of the bytes, for formats that are text: "UTF-8", "windows-1252 (assumed)"
	Pages       int    // pages, slides or sheets
	Attachments int    // files inside that were read or named
}

// Kinds of parts. Headings are "heading1" to "heading6". A part inside another lies
// inside its range; no two parts cross.
const (
	KindHeading    = "heading"
	KindPage       = "page"       // locator "p. 4"
	KindSection    = "section"    // from a heading to the next of its level; locator: path of headings
	KindTable      = "table"      // locator: caption, or "table 2"
	KindItem       = "item"       // of a list
	KindCode       = "code"       //
	KindSlide      = "slide"      // locator "slide 3"
	KindSheet      = "sheet"      // locator: its name
	KindRows       = "rows"       // of a sheet or a CSV file; locator "Sheet1, rows 2-31"
	KindLines      = "lines"      // of a plain text; locator "lines 120-134"
	KindNote       = "note"       // footnote, endnote, speaker's notes, comment
	KindMessage    = "message"    // body of an e-mail
	KindAttachment = "attachment" // locator: its name
	KindEntry      = "entry"      // of a JSON file; locator "record 7"
	KindCue        = "cue"        // of subtitles; locator: its time
)
