package extract

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// oleMagic is what compound files begin with: the formats of Office before 2007, and
// newer ones under a password.
var oleMagic = []byte{0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1}

// oleStreams tells by the name of a stream what a compound file is.
var oleStreams = []struct {
	stream  string
	refusal Refusal
}{
	{"EncryptedPackage", *encrypted()},
	{"WordDocument", Refusal{Code: Unsupported, Reason: "it is a Word document of before 2007 (DOC), which is not read", Hint: "Save it as DOCX."}},
	{"Workbook", Refusal{Code: Unsupported, Reason: "it is an Excel workbook of before 2007 (XLS), which is not read", Hint: "Save it as XLSX."}},
	{"Book", Refusal{Code: Unsupported, Reason: "it is an Excel workbook of before 1997 (XLS), which is not read", Hint: "Save it as XLSX."}},
	{"PowerPoint Document", Refusal{Code: Unsupported, Reason: "it is a PowerPoint presentation of before 2007 (PPT), which is not read", Hint: "Save it as PPTX."}},
	{"__properties_version1.0", Refusal{Code: Unsupported, Reason: "it is an Outlook message (MSG), which is not read", Hint: "Save it as EML."}},
}

// oleRefusal names a compound file by its streams. Names are UTF-16 in entries of 128
// bytes; the directory's sector stands in the header, and the entries wanted are among
// its first in practice.
func oleRefusal(in *input) error {
	head, err := in.head(512)
	if err != nil {
		return err
	}
	if len(head) >= 52 {
		sector := int64(binary.LittleEndian.Uint32(head[48:]))
		size := int64(1) << (binary.LittleEndian.Uint16(head[30:]) & 15)
		if at := (sector + 1) * size; size >= 512 && at > 0 && at < in.size {
			directory := make([]byte, min(8*size, in.size-at))
			if err := in.readAt(directory, at); err != nil {
				return err
			}
			for _, s := range oleStreams {
				if bytes.Contains(directory, append(utf16Bytes(s.stream), 0, 0)) {
					r := s.refusal
					return &r
				}
			}
		}
	}
	return &Refusal{Code: Unsupported, Reason: "it is a compound file (OLE) of a kind that is not read"}
}

func utf16Bytes(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}
