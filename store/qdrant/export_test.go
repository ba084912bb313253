package qdrant

import "time"

// SetGrace sets for how long a generation is kept that is no longer in use.
func (s *Store) SetGrace(d time.Duration) { s.grace = d }

// SetClosed sets for how long a generation stays closed for writing at most.
func (s *Store) SetClosed(d time.Duration) { s.closed = d }
