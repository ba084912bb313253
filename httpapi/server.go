package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sextant-rag/sextant"
	"github.com/sextant-rag/sextant/ingest"
	"github.com/sextant-rag/sextant/web"
)

// Config is what a server can be told. The zero Config serves 127.0.0.1:8000 to the
// programs and pages of this machine.
type Config struct {
	Host string // address to bind; "" is 127.0.0.1
	Port *int   // nil is 8000, 0 a free one

	// AllowHosts are names besides loopback's that requests may be addressed to.
	AllowHosts []string
	// AllowOrigins are origins ("https://lab.example:8080") whose pages may use every
	// route. "*" lets every origin, as the blueprint does, but under /api, /retrieve and
	// /health only.
	AllowOrigins []string
	// Keys, if any, are asked of every request but those for health and the page itself.
	Keys []string
	// AuthUpstream says that whatever stands in front has asked already, so that an
	// address other than loopback needs no keys here.
	AuthUpstream bool
	// RootPath is the path under which a proxy shows this server ("/apps/sextant").
	// Requests may arrive with or without it.
	RootPath string

	Running int // questions answered at once; 0 is twice the processors, at least 4
	Waiting int // questions that may wait for a place; 0 is 64

	ReadTimeout  time.Duration // for a request to arrive; 0 is 30 s
	WriteTimeout time.Duration // for an answer to be taken, not to be made; 0 is 60 s; streams have none
	Heartbeat    time.Duration // between signs of life of a silent stream; 0 is 15 s
	Grace        time.Duration // for questions under way when the server stops; 0 is 10 s

	// Desk takes documents in for clients; nil is a server that takes none.
	Desk *ingest.Desk
	// Records are the accounts of what was taken in; nil shows none and deletes nothing.
	Records *ingest.Records

	Version   string
	Models    Models
	Blueprint Blueprint
	Traces    Traces       // nil keeps none
	Log       *slog.Logger // nil is slog.Default
}

// Models names the models in use, as GET /health shows them; "" is none.
type Models struct {
	Embedding  string `json:"embedding_model"`
	Refinement string `json:"refinement_model"`
	Generation string `json:"generation_model"`
}

// DefaultPort is the blueprint's.
const DefaultPort = 8000

func (c Config) withDefaults() Config {
	c.Host = cmp.Or(c.Host, "127.0.0.1")
	if c.Port == nil {
		c.Port = new(int)
		*c.Port = DefaultPort
	}
	c.RootPath = strings.TrimRight(c.RootPath, "/")
	if c.RootPath != "" && c.RootPath[0] != '/' {
		c.RootPath = "/" + c.RootPath
	}
	c.Running = cmp.Or(c.Running, max(4, 2*runtime.GOMAXPROCS(0)))
	c.Waiting = cmp.Or(c.Waiting, 64)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 60*time.Second)
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	c.Version = cmp.Or(c.Version, "dev")
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) check() error {
	if !loopback(c.Host) && len(c.Keys) == 0 && !c.AuthUpstream {
		return &sextant.Error{Code: sextant.CodeForbidden, Op: "serve", Message: fmt.Sprintf("%s can be reached from other machines, and no key is set.", c.Host),
			Hint: "Set a key with --key (SEXTANT_KEY), serve 127.0.0.1, or say with --auth-upstream that a proxy in front asks for credentials."}
	}
	for _, k := range c.Keys {
		if strings.TrimSpace(k) != k || k == "" {
			return &sextant.Error{Code: sextant.CodeBadRequest, Op: "serve", Message: "A key is empty or has blanks around it.", Hint: "Check --key (SEXTANT_KEY)."}
		}
	}
	for _, o := range c.AllowOrigins {
		u, err := url.Parse(o)
		if o != "*" && (err != nil || u.Host == "" || o != u.Scheme+"://"+u.Host) {
			return &sextant.Error{Code: sextant.CodeBadRequest, Op: "serve", Message: fmt.Sprintf("%q is no origin.", o),
				Hint: "Write scheme, host and port as browsers send them, without a path: --allow-origin https://lab.example:8080"}
		}
	}
	return nil
}

// Server serves one engine.
type Server struct {
	engine   Engine
	config   Config
	log      *slog.Logger
	queue    *queue
	page     http.Handler
	metrics  *metrics
	spec     []byte // the OpenAPI document
	handler  http.Handler
	listener net.Listener
	stopping atomic.Bool
	working  sync.WaitGroup // questions in the engine's hands
}

// New makes a server. A configuration that would expose the engine to strangers, or
// that cannot mean what it says, is a *sextant.Error.
func New(engine Engine, config Config) (*Server, error) {
	config = config.withDefaults()
	if err := config.check(); err != nil {
		return nil, err
	}
	s := &Server{engine: engine, config: config, log: config.Log, queue: newQueue(config.Running, config.Waiting), page: web.Page(config.RootPath), metrics: newMetrics(config)}
	mux, free, err := s.mux()
	if err != nil {
		return nil, err
	}
	s.handler = s.observe(s.strip(newGuard(config, free).wrap(mux)))
	return s, nil
}

// Handler returns the whole surface, guard included.
func (s *Server) Handler() http.Handler { return s.handler }

// strip takes RootPath off, for proxies that leave it on.
func (s *Server) strip(next http.Handler) http.Handler {
	root := s.config.RootPath
	if root == "" {
		return next
	}
	stripped := http.StripPrefix(root, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, root+"/") {
			stripped.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Listen binds the configured address and returns the URL to announce, with the real
// port. Serve takes it from there.
func (s *Server) Listen(ctx context.Context) (string, error) {
	l, err := listen(ctx, s.config.Host, *s.config.Port)
	if err != nil {
		return "", err
	}
	s.listener = l
	return "http://" + l.Addr().String() + s.config.RootPath, nil
}

var errStopping = &sextant.Error{Code: sextant.CodeUnavailable, Op: "serve", Message: "The server is shutting down.", Hint: "Ask again when it is back."}

// Serve answers requests until ctx ends, then takes no new ones, lets those under way
// finish within the grace period and tells the rest why they end. It returns nil after
// an orderly stop, and only when the engine is no longer in use.
func (s *Server) Serve(ctx context.Context) error {
	if s.listener == nil {
		return errors.New("httpapi: Serve before Listen")
	}
	base, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	server := &http.Server{
		Handler:           s.handler,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       s.config.ReadTimeout,
		WriteTimeout:      s.config.WriteTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(s.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	s.stop(server, abandon)
	return nil
}

// farewell is how long a stream that is cut short has to say so.
const farewell = time.Second

func (s *Server) stop(server *http.Server, abandon context.CancelCauseFunc) {
	grace, cancel := context.WithTimeout(context.Background(), s.config.Grace)
	defer cancel()
	if server.Shutdown(grace) != nil {
		abandon(errStopping)
		last, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		_ = server.Shutdown(last)
		_ = server.Close()
	}
	s.working.Wait()
}
