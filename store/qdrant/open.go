package qdrant

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/store"
)

// Options say which server is used and how. Zero values are defaults.
type Options struct {
	// URL is http(s)://HOST:6333 for REST or grpc(s)://HOST:6334 for gRPC, which only some
	// builds speak; see ErrGRPC.
	URL string
	Key string // sent with each request; "" sends none
	// TokenProxy is the base address of a service whose /access-token gives a short-lived
	// bearer token, sent with each request as well; "" asks for none.
	TokenProxy string
	Roots      *x509.CertPool // of certificates; nil are the system's
	// Names are what collections are called on the server, where not by their own name.
	Names map[string]string
	// Prefix is put before every name on the server, so that several installations can share
	// one.
	Prefix string
	// Timeout bounds one request that reads; 0 is 2.5 seconds.
	Timeout time.Duration
	// WriteTimeout bounds one request that writes; 0 is a minute.
	WriteTimeout time.Duration
	// ApproximateFrom is the number of chunks from which vectors are searched by the graph
	// instead of all of them; 0 is never.
	ApproximateFrom int64
	ReadOnly        bool // changes are store.ErrUnsupported
	OnDisk          bool // of collections made: vectors and payloads are not held in RAM
	Shards          int  // of collections made; 0 leaves it to the server
	Replicas        int
	Consistency     int // replicas that must have a write before it is acknowledged
	Log             *slog.Logger
}

const (
	defaultTimeout      = 2500 * time.Millisecond
	defaultWriteTimeout = time.Minute
	dialTimeout         = 2 * time.Second
)

// errSlow ends a request that took too long.
var errSlow = errors.New("no answer in time")

// ErrGRPC is the error of an address of gRPC in a build that does not speak it.
var ErrGRPC = fmt.Errorf("this program is built without gRPC, for its size; use the REST port (http://HOST:6333), or build with -tags qdrant_grpc: %w", store.ErrUnsupported)

// Store is a Qdrant server.
type Store struct {
	o    Options
	wire transport
	life context.Context // ended by Close
	stop context.CancelFunc

	seen   atomic.Bool   // there is a catalogue
	grace  time.Duration // see defaultGrace
	closed time.Duration // see defaultClosed

	mu   sync.Mutex
	open map[string]*collection
}

var _ store.Store = (*Store)(nil)

// Open prepares to use a server. It does not need to answer yet: what is asked of it
// before it does is store.ErrUnavailable.
func Open(o Options) (*Store, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("open qdrant: its address is not a URL with a host: %w", store.ErrUnsupported)
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, defaultWriteTimeout)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{o: o, open: map[string]*collection{}, grace: defaultGrace, closed: defaultClosed}
	switch u.Scheme {
	case "http", "https":
		if u.User != nil && o.Key == "" {
			o.Key, _ = u.User.Password()
		}
		u.User = nil
		s.wire = newREST(o, u)
	case "grpc", "grpcs":
		if s.wire, err = newGRPC(o, u); err != nil {
			return nil, fmt.Errorf("open qdrant: %w", err)
		}
	default:
		return nil, fmt.Errorf("open qdrant: %s:// is none of http, https, grpc, grpcs: %w", u.Scheme, store.ErrUnsupported)
	}
	s.wire = bounded{s.wire, o.Timeout, o.WriteTimeout}
	s.life, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	if s.life.Err() != nil {
		return nil
	}
	s.stop()
	return s.wire.close()
}

// usable reports why nothing can be asked.
func (s *Store) usable(ctx context.Context) error {
	if s.life.Err() != nil {
		return fmt.Errorf("the store is closed: %w", store.ErrUnavailable)
	}
	return ctx.Err()
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	err := s.usable(ctx)
	if err == nil {
		err = s.wire.ping(ctx)
	}
	return failure("ping", err)
}

// failure names what failed.
func failure(op string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errMissing) && !errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return fmt.Errorf("qdrant: %s: %w", op, err)
}

// errReadOnly refuses a change.
var errReadOnly = fmt.Errorf("the store is opened for reading: %w", store.ErrUnsupported)

// Collections implements store.Store.
func (s *Store) Collections(ctx context.Context) ([]sextant.Collection, error) {
	err := s.usable(ctx)
	if err != nil {
		return nil, failure("list collections", err)
	}
	rows, err := s.rows(ctx)
	if err != nil {
		return nil, failure("list collections", err)
	}
	out := make([]sextant.Collection, len(rows))
	for i, r := range rows {
		out[i] = r.Spec
	}
	slices.SortFunc(out, func(a, b sextant.Collection) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, name string) (store.Collection, error) {
	err := s.usable(ctx)
	if err != nil {
		return nil, failure("open "+name, err)
	}
	began := time.Now()
	r, err := s.row(ctx, name)
	if err != nil {
		return nil, failure("open "+name, err)
	}
	c, err := s.handle(ctx, r, began)
	if err != nil {
		return nil, failure("open "+name, err)
	}
	return c.open(), nil
}

// handle returns what this process knows of a collection, brought up to date by a row that
// was asked for at a time.
func (s *Store) handle(ctx context.Context, r row, asked time.Time) (*collection, error) {
	s.mu.Lock()
	c := s.open[r.Spec.Name]
	if c == nil || c.isGone() {
		c = newCollection(s)
		s.open[r.Spec.Name] = c
	}
	s.mu.Unlock()
	if err := c.adopt(r); err != nil {
		return nil, err
	}
	if err := c.standing(ctx, r); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.looked = asked
	c.mu.Unlock()
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Ensure implements store.Store.
func (s *Store) Ensure(ctx context.Context, spec sextant.Collection) (store.Collection, error) {
	c, err := s.ensure(ctx, spec)
	if err != nil {
		return nil, failure("ensure "+spec.Name, err)
	}
	return c.open(), nil
}

func (s *Store) ensure(ctx context.Context, spec sextant.Collection) (*collection, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if _, err := store.AnalyzerOf(spec); err != nil {
		return nil, err
	}
	err := s.usable(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	r, err := s.row(ctx, spec.Name)
	if errors.Is(err, store.ErrNotFound) {
		if s.o.ReadOnly {
			return nil, errReadOnly
		}
		r = row{Spec: spec, Created: stamp()}
		if err := s.putRow(ctx, &r); err != nil {
			return nil, err
		}
		return s.handle(ctx, r, began)
	}
	if err != nil {
		return nil, err
	}
	c, err := s.handle(ctx, r, began)
	if err != nil {
		return nil, err
	}
	if err := c.respecify(ctx, spec); err != nil {
		return nil, err
	}
	if !s.o.ReadOnly {
		c.tidyLater(ctx, c.current())
	}
	return c, nil
}

// Drop implements store.Store.
func (s *Store) Drop(ctx context.Context, name string) error {
	return failure("drop "+name, s.drop(ctx, name))
}

func (s *Store) drop(ctx context.Context, name string) error {
	err := s.usable(ctx)
	if err != nil {
		return err
	}
	if s.o.ReadOnly {
		return errReadOnly
	}
	r, err := s.row(ctx, name)
	if err != nil {
		return err
	}
	// The row goes first: a collection without a row is rubbish, a row without a collection
	// would be damage.
	if err := s.deleteRow(ctx, name); err != nil {
		return err
	}
	s.mu.Lock()
	if c := s.open[name]; c != nil {
		c.end()
		delete(s.open, name)
	}
	s.mu.Unlock()
	generations := append([]string{r.Physical}, r.Retired...)
	if r.Shadow != nil {
		generations = append(generations, r.Shadow.Physical)
	}
	for _, physical := range generations {
		if physical == "" {
			continue
		}
		if err := s.wire.drop(ctx, physical); err != nil {
			return err
		}
	}
	return nil
}

// Journal implements store.Store.
func (s *Store) Journal() store.Journal { return journal{s} }
