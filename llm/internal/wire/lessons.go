package wire

import (
	"net/http"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant/llm"
)

// Lessons are what a model was found to take, learnt from refusals and remembered. The
// zero value knows what the zero C says. It is safe for concurrent use.
type Lessons[C comparable] struct {
	mu  sync.Mutex
	can C
}

// Begin sets what needs no refusal to be known.
func (l *Lessons[C]) Begin(can C) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.can = can
}

// Now returns what is known.
func (l *Lessons[C]) Now() C {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.can
}

// Learn changes what is known after a refusal, and reports whether another try makes
// sense. Only a bad request teaches; used is what that request relied on, so that two calls
// at once do not go down two steps for one refusal. change gets what the server said and
// reports whether it changed anything.
func (l *Lessons[C]) Learn(used C, e *llm.Error, change func(can *C, said Said) bool) bool {
	if e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity && e.Status != http.StatusNotImplemented {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.can != used {
		return true // another call has learnt meanwhile
	}
	return change(&l.can, Said(strings.ToLower(e.Message+" "+e.Code)))
}

// Said is what a server said when it refused, in lower case.
type Said string

// Has reports whether any of the words stands in it.
func (s Said) Has(words ...string) bool {
	for _, w := range words {
		if strings.Contains(string(s), w) {
			return true
		}
	}
	return false
}
