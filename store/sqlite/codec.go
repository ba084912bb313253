package sqlite

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/sextant-rag/sextant/filter"
)

// errCodec marks bytes that do not decode. Rows carry checksums, so that it means
// damage that happened before the checksum was made, or a newer format.
var errCodec = errors.New("malformed encoding")

// encoder appends the project's compact binary form: numbers as varints, strings
// and lists with their length before them.
type encoder struct{ b []byte }

func (e *encoder) uint(n uint64) { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) int(n int64)   { e.b = binary.AppendVarint(e.b, n) }

func (e *encoder) str(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

// time writes an instant to the nanosecond; its zone is not kept.
func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.uint(0)
		return
	}
	e.uint(1)
	e.int(t.Unix())
	e.uint(uint64(t.Nanosecond()))
}

func (e *encoder) value(v filter.Value) {
	switch v.Kind() {
	case filter.Keyword:
		e.str(v.Str())
	case filter.Float:
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v.Float()))
	case filter.Time:
		e.int(v.Micros())
	default:
		e.int(v.Int())
	}
}

// decoder reads what encoder wrote. After the first malformed byte it returns zero
// values only and err says so; lengths are checked against what is left, so that
// damaged bytes cannot make it allocate.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	d.b, d.err = nil, errCodec
}

func (d *decoder) uint() uint64 {
	n, w := binary.Uvarint(d.b)
	if w <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[w:]
	return n
}

func (d *decoder) int() int64 {
	n, w := binary.Varint(d.b)
	if w <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[w:]
	return n
}

// count reads the length of a list whose items take at least one byte each.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

// bytes returns a string as part of the decoder's input; it must not be kept.
func (d *decoder) bytes() []byte {
	n := d.count()
	s := d.b[:n:n]
	d.b = d.b[n:]
	return s
}

func (d *decoder) str() string { return string(d.bytes()) }

func (d *decoder) time() time.Time {
	if d.uint() == 0 {
		return time.Time{}
	}
	sec := d.int()
	return time.Unix(sec, int64(d.uint())).UTC()
}

func (d *decoder) value(kind filter.Kind) filter.Value {
	switch kind {
	case filter.Keyword:
		return filter.OfString(d.str())
	case filter.Int:
		return filter.OfInt(d.int())
	case filter.Bool:
		return filter.OfBool(d.int() != 0)
	case filter.Time:
		return filter.OfMicros(d.int())
	case filter.Float:
		if len(d.b) < 8 {
			d.fail()
			return filter.OfFloat(0)
		}
		bits := binary.LittleEndian.Uint64(d.b)
		d.b = d.b[8:]
		return filter.OfFloat(math.Float64frombits(bits))
	}
	d.fail()
	return filter.Value{}
}
