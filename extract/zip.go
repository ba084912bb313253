package extract

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// archive is a zip file as its directory describes it. It is read here and not with
// archive/zip because that reads however many entries there are before it returns, and
// a file of 50 MB can hold a million of them. The layout is that of PKWARE's APPNOTE 6.3.
type archive struct {
	in    *input
	files map[string]*archived
	names []string // in the order of the directory
}

// archived is one file of an archive. Its sizes are claims; what is unpacked is counted.
type archived struct {
	name   string
	method uint16
	locked bool
	packed int64
	crc    uint32
	header int64 // offset of the local header
}

// Most that one entry may unpack to: text and XML compress 5 to 30 times, tables of
// figures 40 times, a bomb 1,000 times.
const (
	entryFloor = 8 << 20
	entryRatio = 40
)

// openArchive reads the directory.
func openArchive(in *input) (*archive, error) {
	at, size, count, err := findDirectory(in)
	if err != nil {
		return nil, err
	}
	if count > int64(in.left.entries) || size > int64(in.left.entries)*(46+1024) {
		return nil, &Refusal{Code: Bomb, Reason: fmt.Sprintf("the archive has %d files in it, the limit is %d", count, in.limits.Entries)}
	}
	if at < 0 || size < 0 || at+size > in.size || at+size < at {
		return nil, malformed("", "the archive's directory is not where it says")
	}
	raw := make([]byte, size)
	if err := in.readAt(raw, at); err != nil {
		return nil, err
	}
	a := &archive{in: in, files: map[string]*archived{}}
	for n := int64(0); len(raw) >= 46 && binary.LittleEndian.Uint32(raw) == 0x02014b50; n++ {
		if in.left.entries--; in.left.entries < 0 {
			return nil, &Refusal{Code: Bomb, Reason: fmt.Sprintf("the archive has more than %d files in it", in.limits.Entries)}
		}
		f, length, err := directoryEntry(raw)
		if err != nil {
			return nil, err
		}
		raw = raw[length:]
		if unsafeName(f.name) {
			return nil, &Refusal{Code: Unsafe, Reason: fmt.Sprintf("the archive has a file called %q, which points outside of it", shorten(f.name, 80))}
		}
		if a.files[f.name] == nil {
			a.names = append(a.names, f.name)
		}
		a.files[f.name] = f
	}
	if len(a.names) == 0 {
		return nil, malformed("", "the archive has no files in it")
	}
	return a, nil
}

// findDirectory reads the end record, which stands before a comment at the end.
func findDirectory(in *input) (at, size, count int64, err error) {
	tail := make([]byte, min(in.size, 22+65535))
	base := in.size - int64(len(tail))
	if err := in.readAt(tail, base); err != nil {
		return 0, 0, 0, err
	}
	i := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if i < 0 || len(tail)-i < 22 {
		return 0, 0, 0, malformed("", "the archive has no directory: it is cut off or damaged")
	}
	end := tail[i:]
	count = int64(binary.LittleEndian.Uint16(end[10:]))
	size = int64(binary.LittleEndian.Uint32(end[12:]))
	at = int64(binary.LittleEndian.Uint32(end[16:]))
	if count != 0xffff && size != 0xffffffff && at != 0xffffffff {
		return at, size, count, nil
	}
	if i < 20 || !bytes.HasPrefix(tail[i-20:], []byte("PK\x06\x07")) {
		return at, size, count, nil
	}
	record := make([]byte, 56)
	where := int64(binary.LittleEndian.Uint64(tail[i-20+8:]))
	if where < 0 || where > in.size-56 {
		return 0, 0, 0, malformed("", "the archive's directory is not where it says")
	}
	if err := in.readAt(record, where); err != nil {
		return 0, 0, 0, err
	}
	if !bytes.HasPrefix(record, []byte("PK\x06\x06")) {
		return 0, 0, 0, malformed("", "the archive's directory is not where it says")
	}
	u := func(i int) int64 { return int64(binary.LittleEndian.Uint64(record[i:])) }
	return u(48), u(40), u(32), nil
}

// directoryEntry reads one entry and says how long it is.
func directoryEntry(raw []byte) (*archived, int, error) {
	u16 := func(i int) int { return int(binary.LittleEndian.Uint16(raw[i:])) }
	name, extra, comment := u16(28), u16(30), u16(32)
	length := 46 + name + extra + comment
	if length > len(raw) {
		return nil, 0, malformed("", "the archive's directory is cut off")
	}
	f := &archived{
		name: string(raw[46 : 46+name]), method: uint16(u16(10)), locked: u16(8)&1 != 0,
		crc: binary.LittleEndian.Uint32(raw[16:]), packed: int64(binary.LittleEndian.Uint32(raw[20:])),
		header: int64(binary.LittleEndian.Uint32(raw[42:])),
	}
	f.wide(raw[46+name:46+name+extra], int64(binary.LittleEndian.Uint32(raw[24:])))
	return f, length, nil
}

// wide takes sizes of 64 bits from the extra field: those whose short form is full.
func (f *archived) wide(extra []byte, size int64) {
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if n > len(extra)-4 {
			return
		}
		body := extra[4 : 4+n]
		extra = extra[4+n:]
		if id != 1 {
			continue
		}
		next := func(v *int64) {
			if *v == 0xffffffff && len(body) >= 8 {
				*v = int64(binary.LittleEndian.Uint64(body))
				body = body[8:]
			}
		}
		next(&size)
		next(&f.packed)
		next(&f.header)
	}
}

// unsafeName reports whether a name would be a file outside of the folder an archive is
// unpacked to. Nothing is unpacked to folders here; an honest writer has no such names.
func unsafeName(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(name, "/") || strings.ContainsRune(name, 0) || len(name) > 1 && name[1] == ':' {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// find returns a file by name; letter case is not told apart where the exact name
// fails, as some writers differ from their own references in it.
func (a *archive) find(name string) *archived {
	name = strings.TrimPrefix(name, "/")
	if f := a.files[name]; f != nil {
		return f
	}
	for _, n := range a.names {
		if strings.EqualFold(n, name) {
			return a.files[n]
		}
	}
	return nil
}

// open unpacks a file of the archive as it is read.
func (a *archive) open(f *archived) (io.Reader, error) {
	if f.locked {
		return nil, encrypted()
	}
	var local [30]byte
	if f.header < 0 || f.header > a.in.size-30 || f.packed < 0 {
		return nil, malformed(f.name, "it is not where the archive's directory says")
	}
	if err := a.in.readAt(local[:], f.header); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(local[:]) != 0x04034b50 {
		return nil, malformed(f.name, "it is not where the archive's directory says")
	}
	start := f.header + 30 + int64(binary.LittleEndian.Uint16(local[26:])) + int64(binary.LittleEndian.Uint16(local[28:]))
	if f.packed > a.in.size-start {
		return nil, malformed(f.name, "the archive ends before it does")
	}
	raw := bufio.NewReaderSize(io.NewSectionReader(a.in.r, start, f.packed), 32<<10)
	u := &unpacking{in: a.in, name: f.name, want: f.crc, left: entryFloor + entryRatio*f.packed}
	switch f.method {
	case 0:
		u.r = raw
	case 8:
		u.r = flate.NewReader(raw)
	default:
		return nil, &Refusal{Code: Unsupported, Place: f.name, Reason: fmt.Sprintf("it is compressed with method %d, which is not read", f.method)}
	}
	return u, nil
}

// read unpacks a whole file of at most a number of bytes.
func (a *archive) read(f *archived, most int64) ([]byte, error) {
	r, err := a.open(f)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, &Refusal{Code: TooLarge, Place: f.name, Reason: fmt.Sprintf("it unpacks to more than %d bytes", most)}
	}
	return b, nil
}

// unpacking reads a compressed file within what its size and the budget allow.
type unpacking struct {
	r    io.Reader
	in   *input
	name string
	left int64
	sum  uint32
	want uint32
}

// Read implements io.Reader. Its errors are Refusals.
func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.left -= int64(n)
	u.in.left.unpack -= int64(n)
	u.sum = crc32.Update(u.sum, crc32.IEEETable, p[:n])
	switch {
	case u.left < 0 || u.in.left.unpack < 0:
		return 0, &Refusal{Code: Bomb, Place: u.name, Reason: "it unpacks to an implausible size"}
	case errors.Is(err, io.EOF):
		if u.want != 0 && u.sum != u.want {
			return 0, malformed(u.name, "its checksum is wrong: the file is damaged")
		}
		return n, io.EOF
	case err != nil:
		return 0, &Refusal{Code: Malformed, Place: u.name, Reason: "it cannot be unpacked: the file is damaged", Err: err}
	}
	return n, nil
}

func encrypted() *Refusal {
	return &Refusal{Code: Encrypted, Reason: "the file is protected by a password", Hint: "Remove the password and try again."}
}

// zipFormat tells the formats that are zip files apart by what is in them.
func zipFormat(in *input) (Format, error) {
	entries := in.left.entries
	a, err := openArchive(in)
	if err != nil {
		return "", err
	}
	in.left.entries = entries // the reader opens it again
	if f := a.find("mimetype"); f != nil {
		kind, err := a.read(f, 256)
		switch kind := strings.TrimSpace(string(kind)); {
		case err != nil:
		case kind == "application/epub+zip":
			return FormatEPUB, nil
		case strings.HasPrefix(kind, "application/vnd.oasis.opendocument.text"):
			return FormatODT, nil
		case strings.HasPrefix(kind, "application/vnd.oasis.opendocument"):
			return "", &Refusal{Code: Unsupported, Reason: "it is an OpenDocument file of a kind that is not read", Hint: "Save it as DOCX, XLSX, PPTX or PDF."}
		}
	}
	main := officeMain(a)
	switch {
	case strings.HasPrefix(main, "word/"):
		return FormatDOCX, nil
	case strings.HasPrefix(main, "xl/"):
		return FormatXLSX, nil
	case strings.HasPrefix(main, "ppt/"):
		return FormatPPTX, nil
	case a.find("META-INF/container.xml") != nil:
		return FormatEPUB, nil
	case a.find("xl/workbook.bin") != nil:
		return "", &Refusal{Code: Unsupported, Reason: "it is a binary Excel workbook (XLSB), which is not read", Hint: "Save it as XLSX."}
	}
	return "", &Refusal{Code: Unsupported, Reason: fmt.Sprintf("it is a zip archive of %d files and no document", len(a.names)), Hint: "Unpack it and ingest its folder."}
}

// officeMain returns the main part of an Office Open XML file, "" if it is none.
func officeMain(a *archive) string {
	for _, name := range []string{"word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"} {
		if a.find(name) != nil {
			return name
		}
	}
	for _, name := range a.names { // some writers number it: word/document2.xml
		if strings.HasPrefix(name, "word/document") && strings.HasSuffix(name, ".xml") {
			return name
		}
	}
	return ""
}
