package lexical

import "encoding/binary"

// Zone is the kind of text a field is, by a number the caller gives it: what a report's
// cause says is told from what its narrative says.
type Zone uint8

// MaxZone is the highest zone.
const MaxZone Zone = 63

// Zones is a set of zones.
type Zones uint64

// AllZones holds every zone.
const AllZones = ^Zones(0)

// ZonesOf returns the set of some zones.
func ZonesOf(zones ...Zone) (set Zones) {
	for _, z := range zones {
		set |= 1 << z
	}
	return set
}

// Has reports whether a zone is in the set.
func (s Zones) Has(z Zone) bool { return s>>z&1 != 0 }

// layout says of each row of a segment where its fields begin and which zone they are:
// for each field that has a word the zone, a byte, and the uvarint distance of its first
// position from that of the field before. Keeping it beside the positions costs some ten
// bytes a row; numbering positions by zone would make every one of them larger.
type layout struct {
	data []byte
	end  ends // by ordinal

	last, before uint32 // where the newest field of the row being written begins, and the one before it
	mark         int    // length of data before the newest field
}

// begin adds a field to the row being written.
func (l *layout) begin(position uint32, z Zone) {
	l.mark = len(l.data)
	l.data = binary.AppendUvarint(append(l.data, byte(z)), uint64(position-l.last))
	l.before, l.last = l.last, position
}

// undo takes the newest field back: it has no words.
func (l *layout) undo() { l.data, l.last = l.data[:l.mark], l.before }

// endRow ends the row being written.
func (l *layout) endRow() {
	l.end.add(len(l.data))
	l.last = 0
}

// drop gives the row being written up.
func (l *layout) drop() { l.data, l.last = l.data[:l.end.last()], 0 }

func (l *layout) copyRow(from layout, ord int) {
	l.data = append(l.data, from.row(ord)...)
	l.endRow()
}

func (l layout) row(ord int) []byte {
	from, to := l.end.piece(ord)
	return l.data[from:to]
}

// at returns the zone of a position in a row.
func (l layout) at(ord int, position uint32) Zone {
	var zone Zone
	begins := uint32(0)
	for row := l.row(ord); len(row) > 0; {
		step, n := uvarint(row, 1)
		if begins += step; begins > position {
			break
		}
		zone, row = Zone(row[0]), row[n:]
	}
	return zone
}

// meets reports whether a row has a field of the zones.
func (l layout) meets(ord int, zones Zones) bool {
	for row := l.row(ord); len(row) > 0; {
		if zones.Has(Zone(row[0])) {
			return true
		}
		_, n := uvarint(row, 1)
		row = row[n:]
	}
	return false
}

// valid reports whether every row decodes.
func (l layout) valid() bool {
	for ord := range l.end.len() {
		row := l.row(ord)
		at := uint64(0)
		for len(row) > 0 {
			step, n := binary.Uvarint(row[1:])
			if at += step; Zone(row[0]) > MaxZone || n <= 0 || at > 1<<31 || step > 1<<31 {
				return false
			}
			row = row[1+n:]
		}
	}
	return true
}
