package lexical

import "encoding/binary"

// ends says where pieces of bytes end that lie one behind the other: four little-endian
// bytes each, so that they are read the same in memory and where they lie in a file.
type ends []byte

func (e ends) len() int { return len(e) / 4 }

func (e ends) at(i int) uint32 { return binary.LittleEndian.Uint32(e[4*i:]) }

// piece returns where piece i begins and ends.
func (e ends) piece(i int) (from, to uint32) {
	if i == 0 {
		return 0, e.at(0)
	}
	return e.at(i - 1), e.at(i)
}

// last is where all of them end.
func (e ends) last() int {
	if len(e) == 0 {
		return 0
	}
	return int(e.at(e.len() - 1))
}

func (e *ends) add(end int) { *e = binary.LittleEndian.AppendUint32(*e, uint32(end)) }

// rising reports whether no end lies before the one before it, as those of a file must.
func (e ends) rising() bool {
	before := uint32(0)
	for i := range e.len() {
		end := e.at(i)
		if end < before {
			return false
		}
		before = end
	}
	return true
}
